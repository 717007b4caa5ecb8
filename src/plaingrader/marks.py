"""From what an answer gave to its points and the sentence that helps. This is the process that the student's
code never enters.
"""

from dataclasses import asdict, dataclass, replace

import numpy as np

from plaincourse.assigned import codec, seed
from plaincourse.exercises import Verdict, compare
from plaincourse.exercises._answers import array
from plaincourse.exercises._close import matches, near

# What the student's process may say of itself. "right" is said here alone.
SINGLE = 1e-5  # what float32 can tell apart: whoever computes in it has the right numbers
NO_VALUES = ("not attempted", "wrong", "error", "refused")


@dataclass(frozen=True)
class Mark:
    """What one question earned, and why."""

    question: str
    title: str
    points: float
    most: float
    status: str  # of the Verdict
    mistake: str  # the name of the known mistake, if it is one
    message: str

    def as_dict(self):
        return asdict(self)

    @property
    def verdict(self):
        """What the feedback shows."""
        return Verdict(f"{self.title} ({self.points:g} of {self.most:g} points)", self.status, self.message)


def groups(question, student, assignment):
    """The hidden cases of this student, one list for each property."""
    return question.groups(hidden_seed(question, student, assignment))


def hidden_seed(question, student, assignment):
    """By hand: the seed of the numbers that the notebook showed. A function: another one than the visible
    check's.
    """
    return seed(student, assignment, question.name, "numbers" if question.by_hand else "hidden")


def none(question, status, message):
    """No points, and why."""
    return Mark(question.name, question.title, 0.0, question.points, status, "", message)


def mark(question, cases, results):
    """The Mark for the results, one of `plaincourse.assigned.answers.results` for each group of cases. They
    may hold anything.
    """
    try:
        got = [received(result, group) for result, group in zip(results, cases, strict=True)]
    except Exception as error:  # what a forged result can raise has no end
        return none(question, "wrong", f"The answer's results cannot be read: {type(error).__name__}.")
    verdicts = [verdict(question, group, values) for group, values in zip(cases, got, strict=True)]
    earned = [part.points for part, one in zip(question.properties, verdicts, strict=True) if one.ok]
    if len(earned) == len(verdicts):
        return Mark(question.name, question.title, question.points, question.points, "right", "", "")
    if question.by_hand and len(verdicts) == 1 and verdicts[0].status == "wrong":
        return by_numbers(question, flat(cases)[0], got[0], verdicts[0])
    if handed_out(question, cases, got):
        return none(question, "not attempted", "The function still does what it did when it was handed out.")
    return partial(question, cases, got, verdicts, float(sum(earned)))


def by_numbers(question, case, values, found):
    """The Mark of several numbers worked by hand of which some are right, without a known mistake: their
    share, to the half point below, if they are more than half. What is 0, 1 or the same again is no sign
    of work.
    """
    none_yet = none(question, found.status, found.message)
    if not isinstance(values, list):  # there is no value
        return none_yet
    want, got = array(question.reference(*case)), array(values[0])
    if got.shape != want.shape or want.size < 3 or want.dtype == bool or got.dtype.kind not in "iuf":
        return none_yet
    right = near(got, want, question.tolerance)
    telling = ~(near(want, np.zeros_like(want), 0) | near(want, np.ones_like(want), 0))
    shown = len(np.unique(want[right & telling]))
    if shown < 2 or shown <= (telling.sum() - (right & telling).sum()) or not right[~telling].all():
        return none_yet
    points = np.floor(2 * question.points * right.sum() / want.size) / 2
    message = f"{right.sum()} of {want.size} numbers are right, which is worth a part of the points."
    return Mark(
        question.name,
        question.title,
        float(points),
        question.points,
        found.status,
        "",
        f"{message} {found.message}",
    )


def partial(question, cases, got, verdicts, points):
    """The Mark of an answer with at least one property wrong: a known mistake if it is one everywhere, else
    the first that failed.
    """
    whole = (
        verdict(question, flat(cases), flat(got)) if all(isinstance(values, list) for values in got) else None
    )
    failed = [(part, one) for part, one in zip(question.properties, verdicts, strict=True) if not one.ok]
    _, first = failed[0]
    known = (
        whole if whole is not None and whole.status == "mistake" else first
    )  # a Verdict is true only if it is right
    message = known.message
    if len(question.properties) > 1:
        message = f"Lost for: {', '.join(part.name for part, _ in failed)}.\n{message}"
    name = known.message.split(":")[0] if known.status == "mistake" else ""
    return Mark(question.name, question.title, points, question.points, known.status, name, message)


def verdict(question, cases, values):
    """The Verdict on one group of cases."""
    if isinstance(values, Verdict):
        return Verdict(question.title, values.status, values.message)
    arrays = values if question.by_hand else [numbers(value) for value in values]
    single = any(getattr(value, "dtype", None) == np.float32 for value in arrays)
    tolerance = max(question.tolerance, SINGLE) if single else question.tolerance
    return compare(replace(question.on(cases), tolerance=tolerance), arrays)


def numbers(value):
    """A list of numbers as an array; whatever else it is stays."""
    if not isinstance(value, list | tuple):
        return value
    found = array(value)
    return found if found.dtype.kind in "biuf" else value


def received(result, group):
    """The values, or a Verdict if there are none. Errors for what no honest answer would send."""
    if result["status"] != "ran":
        status = result["status"] if result["status"] in NO_VALUES else "wrong"
        return Verdict("", status, str(result.get("message", ""))[:2000])
    values = [codec.decode_result(value) for value in result["values"]]
    if len(values) != len(group):
        raise ValueError("another number of results than of cases")
    return values


def handed_out(question, cases, got):
    """Whether the function still gives what it gave when it was handed out."""
    if question.handed_out is None or not all(isinstance(values, list) for values in got):
        return False
    broken = question.outputs(question.handed_out, cases=flat(cases))
    return matches([array(value) for value in flat(got)], broken, question.tolerance)


def flat(lists):
    return [item for one in lists for item in one]
