"""What an assignment's notebook needs: the student's own numbers, and checks that show while they work.

>>> sheet = Sheet("04_mlp", STUDENT)
>>> x, weight = sheet.numbers("q1")
>>> sheet.check("q3", my_function)

The checks here are the visible ones. The marks come from other inputs, when the notebook is graded.
"""

import hashlib
import json
import os
import runpy
import unicodedata
from dataclasses import replace
from pathlib import Path

import numpy as np

from plaincourse.exercises import Exercise, Mistake, Verdict, judge
from plaincourse.exercises._answers import Problem, array, by_hand

from .codec import decode


def seed(student, assignment, question, purpose="numbers"):
    """The seed of one student's question: always the same, whoever asks. Case and spaces around the student's
    id do not matter.

    purpose: "numbers" for what the notebook shows; the hidden tests have a purpose, and so a seed, of their
    own.
    """
    student = unicodedata.normalize("NFC", student).strip().casefold()
    digest = hashlib.sha256("\n".join([purpose, assignment, question, student]).encode()).digest()
    return int.from_bytes(digest[:8], "big")


class Sheet:
    """One student's copy of an assignment. ValueError without a student id; FileNotFoundError beside no
    assignment.
    """

    def __init__(self, assignment, student, folder="."):
        if not isinstance(student, str) or not student.strip():
            raise ValueError(
                f"Sheet: student = {student!r}; write your student id between the quotes after STUDENT, and"
                " run again from there"
            )
        self.assignment, self.student, self.folder = assignment, student, Path(folder)
        if not (self.folder / "variants.py").exists():
            raise FileNotFoundError(
                f"Sheet: no variants.py beside the notebook, in {self.folder.resolve()}; unpack the whole"
                " assignment again"
            )
        self.variants = runpy.run_path(str(self.folder / "variants.py"))

    def numbers(self, question):
        """The student's own numbers for this question: one array, or a tuple of several."""
        if question not in self.variants:
            raise KeyError(f"Sheet: question {question!r} has no numbers of its own")
        numbers = self.variants[question](
            np.random.default_rng(seed(self.student, self.assignment, question))
        )
        return numbers[0] if len(numbers) == 1 else numbers

    def check(self, question, answer):
        """The visible check: a Verdict. A value worked by hand is looked at for its form only; it is marked
        when graded.
        """
        execution = os.environ.get("NBGRADER_EXECUTION")
        if (
            execution == "autograde"
        ):  # nothing here is a mark: whoever grades without the course's settings must notice
            raise RuntimeError(
                "Sheet: marks come from the course's own nbgrader_config.py; grade with make grade"
            )
        verdict = self.verdict(question, answer)
        if execution == "validate" and not verdict.ok:
            raise AssertionError(repr(verdict))
        return verdict

    def verdict(self, question, answer):
        """What `check` shows."""
        path = self.folder / "visible.json"
        if not path.exists():
            raise FileNotFoundError(
                f"Sheet: no visible.json beside the notebook, in {self.folder.resolve()}; make release"
                f" A={self.assignment} writes it"
            )
        data = json.loads(path.read_text(encoding="utf-8"))[question]
        if data["by_hand"]:
            return form(data["title"], data["expected"], answer)
        verdict = judge(stored(data), answer)
        text = "Whether it uses what the question refuses is looked at when it is graded."
        return (
            replace(verdict, message=f"{verdict.message} {text}")
            if verdict.ok and data["refuses"]
            else verdict
        )


def stored(data):
    """The Exercise in this table of visible.json, in which encoded results stand for right and wrong answers,
    so that it holds no solution.
    """
    cases = [decode(case) for case in data["cases"]]
    mistakes = [
        Mistake(known["name"], known["sentence"], stored_results(known["results"]))
        for known in data["mistakes"]
    ]
    return Exercise(
        data["name"],
        data["title"],
        stored_results(data["expected"]),
        lambda rng: cases,
        mistakes,
        data["tolerance"],
        argument_names=data["argument_names"],
    )


def stored_results(encoded):
    return [array(decode(result)) for result in encoded]


def form(title, wanted, answer):
    """A Verdict on the form of a value worked by hand: how many numbers, not which.

    wanted: its shape; a length is None where each student has another one.
    """
    try:
        got = array(by_hand(answer))
    except Problem as problem:
        return Verdict(title, *problem.args)
    numbers, fits = got.dtype.kind in "biuf", len(got.shape) == len(wanted)
    if not (
        numbers
        and fits
        and all(want in (None, length) for want, length in zip(wanted, got.shape, strict=True))
    ):
        found = f"an array of shape {got.shape}" if numbers else "something that is not all numbers"
        return Verdict(title, "wrong", f"This asks for {asked(wanted)}; yours is {found}.")
    return Verdict(
        title,
        "recorded",
        "Its form is right. Whether its value is right, you learn when it is graded.",
    )


def asked(wanted):
    """The form of a value, in words."""
    if len(wanted) > 1:
        return f"an array of shape ({', '.join('…' if length is None else str(length) for length in wanted)})"
    if not wanted:
        return "one number"
    return "a list of numbers" if wanted[0] is None else f"a list of {wanted[0]} numbers"
