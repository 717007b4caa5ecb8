"""From results to points: every known mistake comes back under its own name, also where it is right in
part.
"""

import numpy as np
import pytest

from plaincourse.assigned.codec import encode
from plaingrader import course, marks
from plaingrader.questions import questions

ALL = [(name, question) for name in course.assignments() for question in questions(name).values()]


def sent(question, function, groups):
    """What the box sends for an answer that is this function."""
    return [
        {
            "status": "ran",
            "values": [encode(value) for value in question.outputs(function, cases=group)],
        }
        for group in groups
    ]


def each():
    return pytest.mark.parametrize(
        ("assignment", "question"), ALL, ids=[f"{name}-{question.name}" for name, question in ALL]
    )


@each()
def test_mistakes_keep_their_names_and_right_answers_their_points(assignment, question):
    for student in ("kim", "lee"):
        groups = marks.groups(question, student, assignment)
        right = marks.mark(question, groups, sent(question, question.reference, groups))
        assert (right.points, right.status) == (question.points, "right")
        for mistake in question.mistakes:
            made = marks.mark(question, groups, sent(question, mistake.answer, groups))
            assert made.points < question.points
            assert (made.status, made.mistake) == ("mistake", mistake.name)
            assert mistake.sentence in made.message
        if question.handed_out:
            untouched = marks.mark(question, groups, sent(question, question.handed_out, groups))
            assert (untouched.points, untouched.status) == (0, "not attempted")


@pytest.mark.parametrize(
    "values",
    [[{"array": "AAAA"}], [{"record": "plainformer.llama.Config", "items": []}], [], "x", [{"list": [None]}]],
)
def test_results_of_any_kind_earn_nothing(values):
    question = questions("04_mlp")["q2"]
    groups = marks.groups(question, "kim", "04_mlp")
    assert marks.mark(question, groups, [{"status": "ran", "values": values}] * len(groups)).points == 0


def test_text_in_the_right_shape_earns_nothing():
    question = questions("09_normalization")["q5"]
    groups = marks.groups(question, "kim", "09_normalization")
    texts = [
        {"status": "ran", "values": [encode(np.full(np.shape(x), "a")) for x, *_ in group]}
        for group in groups
    ]
    assert marks.mark(question, groups, texts).points == 0


def test_an_array_whose_header_lies_is_refused():
    data = encode(np.zeros(3))
    raw = __import__("base64").b64decode(data["array"])
    from plaincourse.assigned.codec import read_array

    assert read_array(raw).shape == (3,)
    for lie in (raw.replace(b"(3,)", b"(9,)"), raw[:-1], raw.replace(b"<f8", b"|O8")):
        with pytest.raises(ValueError, match="header|version|dtype|Object|object"):
            read_array(lie)
