"""Of several numbers worked by hand, those that are right earn their share; guessed ones earn nothing."""

import numpy as np
import pytest

from plaincourse.assigned.codec import encode
from plaincourse.exercises import Exercise, Mistake, the_value
from plaingrader.marks import mark

WANT = np.array([2.5, -1.25, 3.75, 0.5, 7.125])


def question(want=WANT):
    return Exercise(
        "q1",
        "Five numbers",
        reference=lambda x: want,
        cases=the_value(4, lambda rng: (1,)),
        mistakes=[Mistake("doubled", "You doubled.", lambda x: 2 * want)],
        tolerance=1e-3,
        by_hand=True,
        answer="q1",
    )


def points(answer, want=WANT):
    got = mark(question(want), [[(1,)]], [{"status": "ran", "values": [encode(answer)]}])
    return got.points, got.message


@pytest.mark.parametrize(
    ("answer", "worth"),
    [
        ([2.5, -1.25, 3.75, 0.5, 7.125], 4),
        ([2.5, -1.25, 3.75, 0.5, 8], 3),
        ([2.5, -1.25, 3.75, 9, 8], 2),
        ([2.5, -1.25, 9, 9, 8], 0),
        ([0, 0, 0, 0, 0], 0),
        (list(2 * WANT), 0),
        ([2.5, -1.25, 3.75, 0.5], 0),
    ],
)
def test_more_than_half_right_is_a_part_of_the_points(answer, worth):
    assert points(answer)[0] == worth


def test_the_reason_says_how_many():
    assert points([2.5, -1.25, 3.75, 0.5, 8])[1].startswith("4 of 5 numbers are right, which is worth a part")


@pytest.mark.parametrize(
    ("want", "guess"),
    [
        ([0, 0, 0, 0, 3.5], [0, 0, 0, 0, 1]),
        ([1, 1, 0, 1, 1, 5], [1, 1, 0, 1, 1, 1]),
        ([3, 3, 3, 3, 4], [3, 3, 3, 3, 3]),
        ([True, False, True, True], [True, True, True, True]),
    ],
)
def test_a_guess_earns_nothing(want, guess):
    assert points(np.array(guess), np.array(want))[0] == 0


@pytest.mark.parametrize("status", ["right", "recorded", "wrong", "error", "not attempted", 7, None])
@pytest.mark.parametrize("want", [3.5, [1.5, 2.5, 3.5]])
def test_what_is_no_value_earns_nothing(status, want):
    result = {"status": status, "message": "", "values": []}
    assert mark(question(np.array(want)), [[(1,)]], [result]).points == 0
