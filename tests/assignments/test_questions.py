"""Every assigned question, without nbgrader: its numbers are fit to be asked for, right answers are right,
wrong ones are named.
"""

import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from project import THOROUGH

from plaincourse.assigned import seed
from plaincourse.exercises import judge
from plaincourse.exercises._close import close, matches
from plaingrader import course
from plaingrader.questions import questions

ALL = [(name, question) for name in course.assignments() for question in questions(name).values()]
VARIANTS = 1000 if THOROUGH else 60  # students, each with numbers of their own
CONFUSED = 200 if THOROUGH else 12  # of them, those for whom each pair of mistakes is compared


def each(kind=ALL):
    return pytest.mark.parametrize(
        ("assignment", "question"), kind, ids=[f"{name}-{question.name}" for name, question in kind]
    )


def right_answers(assignment, question):
    path = Path(__file__).parent / "answers" / f"{assignment}.py"
    return runpy.run_path(str(path))["RIGHT"][question.name]


def handed_in(question, function, number):
    """What a student would hand in who has this function in mind."""
    return question.outputs(function, number)[0] if question.by_hand else function


def far(one, other, tolerance):
    """Whether two results differ by more than ten times the tolerance, somewhere."""
    return not close(one, other, 10 * tolerance)


@each()
def test_every_variant_is_well_posed(assignment, question):
    for number in range(VARIANTS):
        number = seed(f"student {number}", assignment, question.name)
        cases = question.inputs(number)
        known = question.known(cases=cases)
        right = known.pop("reference")
        assert not any(np.isnan(result).any() for result in right)
        for name, wrong in known.items():
            assert any(
                far(one, other, question.tolerance) for one, other in zip(right, wrong, strict=True)
            ), (name, number)
        if question.posed:
            assert all(question.posed(*case) for case in cases), number


@each([(name, question) for name, question in ALL if question.by_hand])
def test_neighbours_cannot_copy(assignment, question):
    answers = Counter()
    for number in range(1000):
        number = seed(f"student {number}", assignment, question.name)
        right = question.outputs(question.reference, number)
        answers[right[0].astype(float).round(6).tobytes()] += 1
    assert answers.most_common(1)[0][1] <= 50


@each()
def test_every_known_mistake_is_rejected_and_named(assignment, question):
    assert len(question.mistakes) >= (2 if question.by_hand else 3)
    for number in range(CONFUSED):
        assert question.confusable(number) == []
    for mistake in question.mistakes:
        for number in range(3):
            verdict = judge(question, handed_in(question, mistake.answer, number), number)
            assert verdict.status == "mistake" and verdict.message == f"{mistake.name}: {mistake.sentence}", (
                verdict
            )


# Who looks for positions further than the text is long finds the same ones.
ONE_VALUE = {("07_positions", "q6"): {"length"}}


def agrees(question, cases, right):
    """Whether the reference gives these results on these cases, which may not even fit together."""
    try:
        return matches(question.outputs(question.reference, cases=cases), right, question.tolerance)
    except (ValueError, IndexError, TypeError):
        return False


@each()
def test_no_constant_stands_for_an_argument(assignment, question):
    excepted = ONE_VALUE.get((assignment, question.name), ())
    for number in range(0 if question.by_hand else 2):
        cases = question.inputs(number)
        right = question.outputs(question.reference, cases=cases)
        for place, name in enumerate(question.argument_names):
            for value in [] if name in excepted else [case[place] for case in cases]:
                deaf = [(*case[:place], value, *case[place + 1 :]) for case in cases]
                assert not agrees(question, deaf, right), (name, value)


@each()
def test_three_right_answers_are_accepted(assignment, question):
    answers = right_answers(assignment, question)
    assert len(answers) >= 3
    for answer in (question.reference, *answers):
        for number in range(8):
            given = question.outputs(answer, number)[0] if question.by_hand else answer
            verdict = judge(question, given, number)
            assert verdict.ok, (answer.__name__, verdict)


@each()
def test_what_is_handed_out_is_wrong_everywhere_it_matters(assignment, question):
    if question.handed_out is None:
        return
    for number in range(CONFUSED):
        cases = question.inputs(number)
        broken, right = (
            question.outputs(question.handed_out, cases=cases),
            question.outputs(question.reference, cases=cases),
        )
        assert any(far(one, other, question.tolerance) for one, other in zip(right, broken, strict=True))
        for (
            mistake
        ) in question.mistakes:  # one that is handed out counts as not attempted, and would never be named
            assert not matches(broken, question.outputs(mistake.answer, cases=cases), question.tolerance), (
                mistake.name,
                number,
            )
    assert not judge(question, question.handed_out).ok
