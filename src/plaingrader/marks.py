"""From what an answer gave to its points and the sentence that helps. This is the process that the student's
code never enters.
"""

from dataclasses import asdict, dataclass

from plaincourse.assigned import codec, seed
from plaincourse.exercises import Verdict, compare
from plaincourse.exercises._answers import array
from plaincourse.exercises._close import matches

# What the student's process may say of itself. "right" is said here alone.
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
    if handed_out(question, cases, got):
        return none(question, "not attempted", "The function still does what it did when it was handed out.")
    return partial(question, cases, got, verdicts, float(sum(earned)))


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
    return compare(question.on(cases), values)


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
