"""What an exercise is: in a chapter, in an assignment, and in the files that students get."""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ._answers import array
from ._close import matches


@dataclass(frozen=True)
class Mistake:
    """A mistake that people make: `answer` has the wrong behaviour, `sentence` helps whoever made it."""

    name: str
    sentence: str
    answer: Callable


@dataclass(frozen=True)
class Property:
    """Part of an exercise with points of its own: the answer must be right on all of these cases."""

    name: str
    points: float
    cases: Callable  # from a Generator to a list of argument tuples


@dataclass(eq=False)
class Exercise:
    """What is asked for, how to try an answer, and the known mistakes.

    reference: the right function; it takes the arguments that the answer is to take, and no more. cases: from
    a seeded Generator to a list of argument tuples; where points are earned, a tuple of Property. tolerance:
    allowed difference, relative and absolute. by_hand: the answer is the value of ``reference(*case)`` for
    the only case, worked out with a pencil, instead of a function.

    What is graded says more. answer: the name that the notebook gives to the function or the value. refuse:
    dotted names that the answer may not use, each the very thing asked for. handed_out: for a function to be
    mended, its broken form. posed: whether a case is fit to be asked for (no tie, no accidental zero).

    What is handed out holds no solution: there the reference and the mistakes' answers are lists of results,
    and argument_names, which else are those of the reference, are given.
    """

    name: str
    title: str
    reference: Callable
    cases: Callable | tuple[Property, ...]
    mistakes: list[Mistake] = field(default_factory=list)
    tolerance: float = 1e-9
    by_hand: bool = False
    answer: str = ""
    refuse: tuple[str, ...] = ()
    handed_out: Callable | None = None
    posed: Callable | None = None
    argument_names: list[str] | None = None

    def __post_init__(self):
        if self.argument_names is None:
            self.argument_names = list(inspect.signature(self.reference).parameters)

    def mistake(self, name, sentence, answer=None):
        """Add a known mistake: the function that makes it, given here or decorated with this, and the
        sentence that helps whoever made it.
        """
        if answer is None:
            return partial(self.mistake, name, sentence)
        self.mistakes.append(Mistake(name, sentence, answer))
        return answer

    @property
    def properties(self):
        """The parts of the exercise."""
        return self.cases if isinstance(self.cases, tuple) else (Property(self.title, 0, self.cases),)

    @property
    def points(self):
        return sum(part.points for part in self.properties)

    def groups(self, seed=0):
        """The argument tuples of each property for this seed: always the same."""
        rng = np.random.default_rng(seed)
        return [[tuple(case) for case in part.cases(rng)] for part in self.properties]

    def inputs(self, seed=0):
        """The argument tuples for this seed: always the same, never none."""
        cases = [case for group in self.groups(seed) for case in group]
        if not cases or (self.by_hand and len(cases) != 1):
            wanted = "one case" if self.by_hand else "at least one case"
            raise ValueError(f"exercise {self.name}: cases must give {wanted}, got {len(cases)}")
        names = self.argument_names
        for case in cases:
            if len(case) != len(names):
                raise ValueError(
                    f"exercise {self.name}: the reference takes {', '.join(names)}, so every case must give"
                    f" {len(names)}, got {len(case)}; if some are optional, hand over a function that takes"
                    " only what the answer is to take"
                )
        return cases

    def on(self, cases):
        """The exercise with these cases, whatever the seed."""
        return replace(self, cases=lambda rng: cases)

    def outputs(self, answer, seed=0, cases=None):
        """What a trusted answer (the reference, a mistake) gives for each case: of this seed, or these.

        A list holds the results themselves.
        """
        if isinstance(answer, list):
            return answer
        with np.errstate(all="ignore"):
            cases = self.inputs(seed) if cases is None else cases
            return [array(answer(*map(fresh, case))) for case in cases]

    def known(self, seed=0, cases=None):
        """What "reference" and each mistake, by name, give for each case."""
        cases = self.inputs(seed) if cases is None else cases
        answers = {"reference": self.reference} | {mistake.name: mistake.answer for mistake in self.mistakes}
        return {name: self.outputs(answer, cases=cases) for name, answer in answers.items()}

    def confusable(self, seed=0):
        """Pairs of names, of mistakes and "reference", that the cases cannot tell apart: there should be
        none.
        """
        known = self.known(seed)
        names = list(known)
        pairs = [(one, other) for i, one in enumerate(names) for other in names[:i]]
        return [(one, other) for one, other in pairs if matches(known[one], known[other], self.tolerance)]

    def recognized(self, got, cases):
        """The known mistake that gives these very results in every case, where it shows and where it does
        not; or None.
        """
        for mistake in self.mistakes:
            if matches(got, self.outputs(mistake.answer, cases=cases), self.tolerance):
                return mistake


def the_value(points, numbers):
    """The only property of what is worked by hand: right on the student's own numbers, which ``numbers(rng)``
    gives.
    """
    return (Property("the value", points, lambda rng: [numbers(rng)]),)


def defined(namespace):
    """The exercises among the values of a module's variables, in the order in which they were made."""
    return list(dict.fromkeys(value for value in namespace.values() if isinstance(value, Exercise)))


def fresh(argument):
    """A copy that a function may do with what it likes. (deepcopy takes its time, and the tests make
    millions.)
    """
    if type(argument) is np.ndarray:
        return argument.copy()
    if type(argument) in (bool, int, float, str):
        return argument
    if isinstance(argument, tuple):  # also the records of plainformer
        return (
            type(argument)._make(map(fresh, argument))
            if hasattr(argument, "_make")
            else tuple(map(fresh, argument))
        )
    return copy.deepcopy(argument)
