"""Points taken off for work that came late, worked out anew at every grading: for marks of any age, by
machine or by hand.

The rule stands in course.toml, under [late]. Without one, nbgrader's own plugin decides, which takes nothing.
"""

import math
from dataclasses import dataclass, field

from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc

from . import course, gradebook
from .jobs import settings

DAY = 86_400
KEYS = {"share", "grace", "days", "due", "extension"}


@dataclass(frozen=True)
class Rule:
    """share: of the points that the work earned, for every day begun. grace: minutes that cost nothing.
    days: after so many, the work has no points. due: a time for each assignment. extension: days more,
    by student and assignment.
    """

    share: float = 0.0
    grace: float = 0.0
    days: float = math.inf
    due: dict = field(default_factory=dict)
    extension: dict = field(default_factory=dict)

    def penalty(self, student, assignment, score, seconds):
        """The points taken off."""
        seconds -= DAY * self.extension.get(student, {}).get(assignment, 0)
        if seconds <= 60 * self.grace:
            return 0.0
        days = math.ceil(seconds / DAY)
        return float(score) if days > self.days else min(float(score), round(days * self.share * score, 2))


def rule():
    """The Rule of course.toml, or None. ValueError for a key that is none of its, or a time that is none."""
    data = course.table("late")
    if data is None:
        return None
    for key in data.keys() - KEYS:
        raise ValueError(f"course.toml: [late] {key}: must be one of {', '.join(sorted(KEYS))}")
    if not 0 <= data.get("share", 0) <= 1:
        raise ValueError(f"course.toml: [late] share = {data['share']} must be a part, such as 0.1")
    found = Rule(**data)
    for name, text in found.due.items():
        try:
            parse_utc(course.find(name) and text)
        except (ValueError, OverflowError, TypeError) as error:
            raise ValueError(
                f"course.toml: [late.due] {name} = {text!r} must be a time such as 2027-03-20 23:59 UTC"
            ) from error
    return found


def apply(name):
    """Set the penalty of every submission of an assignment."""
    found = rule()
    with gradebook.opened() as book:
        if found and name in found.due:
            book.update_or_create_assignment(name, duedate=parse_utc(found.due[name]))
        for submission in book.assignment_submissions(name):
            late = submission.total_seconds_late
            for notebook in submission.notebooks:
                off = taken_off(found, name, submission.student.id, notebook.score, late) if late > 0 else 0
                notebook.late_submission_penalty = max(0.0, min(off or 0.0, notebook.score)) or None
        book.db.commit()


def taken_off(found, assignment, student, score, seconds):
    """The points by the rule, or by nbgrader's plugin where there is none."""
    if found:
        return found.penalty(student, assignment, score, seconds)
    preprocessor = AssignLatePenalties(config=settings(course.folder()))
    preprocessor.init_plugin()
    return preprocessor.plugin_inst.late_submission_penalty(student, score, seconds)
