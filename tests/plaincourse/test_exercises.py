"""Every exercise: the stub is not accepted, the reference is, known mistakes are named. And `check` survives
any answer.
"""

import functools
import re
import sys

import nbformat
import numpy as np
import pytest
import torch
from project import CHAPTERS, THOROUGH

from plaincourse import exercises
from plaincourse.exercises import Exercise, Mistake, check, registry
from plaincourse.exercises._close import close, near
from plaincourse.exercises._words import difference
from plainformer.activations import softmax
from plainformer.sampling import top_k

EXERCISES = list(registry().values())
SEEDS = range(50 if THOROUGH else 4)


def unfinished(*arguments):
    raise NotImplementedError


STUBS = [None, ..., unfinished, lambda *arguments: None, lambda *arguments: ...]


def each(items):
    return pytest.mark.parametrize("exercise", items, ids=lambda exercise: exercise.name)


def answer_of(exercise, function, seed):
    """A trusted function as the answer that the exercise asks for."""
    return exercise.outputs(function, seed)[0] if exercise.by_hand else function


def test_there_are_exercises():
    assert len(EXERCISES) >= 4
    assert any(exercise.by_hand for exercise in EXERCISES)


@each(EXERCISES)
def test_stubs_are_not_attempted(exercise):
    for stub in STUBS[:2] if exercise.by_hand else STUBS:
        verdict = check(exercise.name, stub)
        assert verdict.status == "not attempted"
        assert not verdict


@each(EXERCISES)
def test_the_reference_is_right(exercise):
    for seed in SEEDS:
        verdict = check(exercise.name, answer_of(exercise, exercise.reference, seed), seed)
        assert verdict.status == "right" and verdict.ok and verdict, verdict


@each(EXERCISES)
def test_every_known_mistake_is_named(exercise):
    assert exercise.mistakes
    for mistake in exercise.mistakes:
        for seed in SEEDS:
            verdict = check(exercise.name, answer_of(exercise, mistake.answer, seed), seed)
            assert verdict.status == "mistake" and not verdict, (mistake.name, verdict)
            assert verdict.message == f"{mistake.name}: {mistake.sentence}"


def test_arguments_are_named_as_in_the_chapters():
    found = set()
    for path in CHAPTERS:
        for cell in nbformat.read(path, as_version=4).cells:
            asked = re.search(r'def \w+\(([\w,\s]+)\):.*check\("([\w-]+)"', cell.source, re.DOTALL)
            if cell.cell_type == "code" and asked:
                found.add(asked[2])
                assert registry()[asked[2]].argument_names == re.findall(r"\w+", asked[1]), asked[2]
    assert found == {exercise.name for exercise in EXERCISES if not exercise.by_hand}


@each(EXERCISES)
def test_the_cases_tell_all_mistakes_apart(exercise):
    for seed in SEEDS:
        assert exercise.confusable(seed) == []


@each(EXERCISES)
def test_a_seed_gives_the_same_cases_every_time(exercise):
    for one, other in zip(exercise.inputs(3), exercise.inputs(3), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_equal(a, b)


# A function that is handed over, such as a model, is not to be had in another way: none can stand for it.
ONE_VALUE = {"block-pre-norm": {"norm_1", "read", "norm_2", "think"}, "generation-loop": {"forward"}}


def with_constant(function, place, value):
    """The function, deaf to the argument at this place."""
    return lambda *case: function(*case[:place], value, *case[place + 1 :])


@each([exercise for exercise in EXERCISES if not exercise.by_hand])
def test_no_constant_stands_for_an_argument(exercise):
    for seed in SEEDS[:3]:
        cases = exercise.inputs(seed)
        for place, name in enumerate(exercise.argument_names):
            if name not in ONE_VALUE.get(exercise.name, ()):
                for case in cases:
                    assert not check(
                        exercise.name, with_constant(exercise.reference, place, case[place]), seed
                    ), (name, case[place])


@each(EXERCISES)
def test_the_words_are_sentences(exercise):
    assert exercise.title and exercise.name == exercise.name.lower()
    for mistake in exercise.mistakes:
        assert mistake.sentence.endswith((".", "?")) and len(mistake.sentence) > 20


def test_confusable_mistakes_are_found():
    twin = Mistake("twin", "It is the same.", softmax)
    exercise = Exercise(
        "x", "X", lambda logits: softmax(logits), lambda rng: [(rng.normal(size=3),)], (twin,)
    )
    assert exercise.confusable() == [("twin", "reference")]


def test_a_mistake_stands_above_its_function_and_leaves_it_as_it_is():
    exercise = Exercise("x", "X", lambda x: x, lambda rng: [(1.0,)])

    @exercise.mistake("doubled", "You doubled it.")
    def doubled(x):
        return 2 * x

    exercise.mistake("squared", "You squared it.", lambda x: x**2)
    assert doubled(3) == 6
    assert [mistake.name for mistake in exercise.mistakes] == ["doubled", "squared"]
    assert exercises.judge(exercise, doubled).message == "doubled: You doubled it."


def test_an_exercise_without_cases_is_refused():
    with pytest.raises(ValueError, match="at least one case, got 0"):
        Exercise("x", "X", softmax, lambda rng: []).inputs()
    with pytest.raises(ValueError, match="one case, got 2"):
        Exercise("x", "X", softmax, lambda rng: [(1,), (2,)], by_hand=True).inputs()


def test_a_case_that_leaves_out_an_argument_of_the_reference_is_refused():
    exercise = Exercise("x", "X", softmax, lambda rng: [(np.ones(3),)])
    with pytest.raises(
        ValueError,
        match=(
            "exercise x: the reference takes x, axis, so every case must give 2, got 1; if some are optional"
        ),
    ):
        exercise.inputs()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("tolerance", [0.0, 1e-9, 0.1])
def test_near_is_numpy_s_isclose(tolerance):
    odd = np.array([0.0, -0.0, 1.0, 1.0 + 5e-10, 1.2, -1.0, 1e-10, 1e308, -1e308, np.inf, -np.inf, np.nan])
    one, other = np.meshgrid(odd, odd)
    with np.errstate(all="ignore"):
        expected = np.isclose(one, other, tolerance, tolerance, equal_nan=True)
    np.testing.assert_array_equal(near(one, other, tolerance), expected)
    for a, b, want in zip(one.ravel(), other.ravel(), expected.ravel(), strict=True):
        assert close(np.array(a), np.array(b), tolerance) == want, (a, b)


@pytest.mark.parametrize(
    "value", [np.array(["1"]), np.array([None]), np.array([1j]), np.ones((1, 1)), np.ones(())]
)
def test_what_is_not_numbers_of_the_same_shape_is_not_close(value):
    assert not close(value, np.ones(1), 1e-9) and not close(np.ones(1), value, 1e-9)


def test_two_exercises_of_one_name_are_refused(monkeypatch):
    twin = Exercise("sampling-top-k", "Twin", softmax, lambda rng: [])
    monkeypatch.setattr(exercises.sampling, "TWIN", twin, raising=False)
    with pytest.raises(ValueError, match="more than one exercise is named .*sampling-top-k"):
        registry.__wrapped__()


def test_an_unknown_name_lists_the_known():
    with pytest.raises(KeyError, match="Did you mean 'sampling-top-k'.*sampling-softmax"):
        check("sampling-topk", top_k)
    for no_name in ([], None, top_k):
        with pytest.raises(KeyError, match="no exercise named .*sampling-softmax"):
            check(no_name, top_k)


def overflowing_addition(logits):
    return (softmax(logits) * 1e9).astype(np.int8)


def endless(logits):
    return endless(logits)


def spoils(logits):
    logits -= logits.max(axis=-1, keepdims=True)
    return softmax(logits)


def crashes(logits):
    total = logits.sum()
    return total / [][0]


def leaves(logits):
    raise SystemExit


def speaks(logits):
    print("hello", logits)
    return softmax(logits)


async def waits(logits):
    return softmax(logits)


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


def raises_unprintable(logits):
    raise Unprintable


class Hostile:
    def __array__(self, *arguments, **options):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError


class Rootless:
    __module__ = None


class Evasive:
    def __getattr__(self, name):
        raise RuntimeError


class Sizeless(np.ndarray):
    @property
    def size(self):
        raise RuntimeError


class Unsigned:
    @property
    def __signature__(self):
        raise RuntimeError

    def __call__(self, logits):
        return softmax(logits)


def complains(logits):
    print("hello", file=sys.stderr)
    return softmax(logits)


SHAPE = r"a NumPy array of numbers, of shape \(4,\)"
HOSTILE = [
    (lambda logits: softmax(logits).tolist(), "wrong", f"Expected {SHAPE}, got a list. Wrap it"),
    (lambda logits: torch.softmax(torch.tensor(logits), -1), "wrong", "got a PyTorch tensor"),
    (lambda logits: "0.5", "wrong", "got a str"),
    (lambda logits: {1: 2}, "wrong", "got a dict"),
    (lambda logits: (p for p in softmax(logits)), "wrong", "got a generator: use return"),
    (waits, "wrong", "without async"),
    (lambda logits: Hostile(), "wrong", "got a Hostile"),
    (lambda logits: Rootless(), "wrong", "got a Rootless"),
    (lambda logits: Evasive(), "wrong", "got an Evasive"),
    (lambda logits: softmax(logits).view(Sizeless), "right", ""),
    (Unsigned(), "right", ""),
    (lambda logits: 1 + 2j, "wrong", "got a complex"),
    (lambda logits: np.array(["a"]), "wrong", "got text"),
    (lambda logits: logits > 0, "wrong", "got True and False"),
    (lambda logits: softmax(logits)[..., :1], "wrong", r"The shape is \(1,\), expected \(4,\)"),
    (lambda logits: softmax(logits)[None], "wrong", r"The shape is \(1, 4\), expected \(4,\)"),
    (lambda logits: 0.25, "wrong", r"The shape is \(\), expected"),
    (lambda logits: 10**400, "wrong", "values of type object"),
    (lambda logits: np.zeros((2000, 2000)), "wrong", r"The shape is \(2000, 2000\)"),
    (lambda logits: logits * np.nan, "wrong", "Got: .nan"),
    (lambda logits: softmax(logits).astype(np.float32), "wrong", "right, but only to float32"),
    (lambda logits: softmax(logits) + 1e-7, "wrong", "differ by up to 1.0e−07|differ by up to 1.0e-07"),
    (overflowing_addition, "wrong", "First case that differs"),
    (spoils, "wrong", "changes its argument logits"),
    (
        crashes,
        "error",
        r"IndexError: list index out of range\nLine \d+ of your cell: return total / \[\]\[0\]",
    ),
    (endless, "error", "RecursionError"),
    (leaves, "error", "SystemExit"),
    (raises_unprintable, "error", "Unprintable: .no message."),
    (lambda: 1, "wrong", "must take 1 argument: logits"),
    (lambda a, b: a, "wrong", "must take 1 argument: logits"),
    (lambda *, logits: logits, "wrong", "must take 1 argument: logits"),
    (np.arange(3), "wrong", "Hand over the function itself.*a NumPy array"),
    ("softmax", "wrong", "Hand over the function itself.*a str"),
    (Hostile, "wrong", "Hand over the function itself.*a class"),
    (speaks, "right", ""),
    (complains, "right", ""),
    (functools.partial(softmax, axis=-1), "right", ""),
    (lambda logits, *more, **options: softmax(logits), "right", ""),
]


@pytest.mark.parametrize(("answer", "status", "message"), HOSTILE)
def test_any_answer_gets_a_readable_verdict(answer, status, message, capsys):
    verdict = check("sampling-softmax", answer)
    assert verdict.status == status, verdict
    assert re.search(message, verdict.message), verdict.message
    assert "0x" not in repr(verdict) and "/" not in verdict.message.replace("total / ", "")
    assert repr(check("sampling-softmax", answer)) == repr(verdict)
    assert capsys.readouterr() == ("", "")


def test_booleans_that_look_alike_when_shortened_are_told_apart():
    def one_column_too_many(question, length):
        mask = np.tril(np.ones((length, length), dtype=bool))
        mask[:, : question + 1] = True
        return mask

    verdict = check("masks-prefix", one_column_too_many)
    assert verdict.status == "wrong"
    assert verdict.message.endswith("2 of 25 places differ, the first at [0, 2]: expected False, got True.")


def test_a_single_boolean_is_told_without_a_place():
    exercise = Exercise("x", "X", lambda x: x > 0, lambda rng: [(1,)])
    assert difference(exercise, (1,), np.array(False), np.array(True)).endswith("Expected: True\nGot: False")


def test_a_result_kept_and_changed_later_counts_as_it_was():
    buffer = np.empty(6)

    def reuses_its_buffer(logits, k):
        if logits.size != 6:
            return top_k(logits, k)
        buffer[:] = top_k(logits, k)
        return buffer

    assert check("sampling-top-k", reuses_its_buffer).ok


def test_a_view_of_the_input_is_an_answer():
    def sometimes_the_input_itself(logits, k):
        return logits if k >= logits.size else top_k(logits, k)

    assert check("sampling-top-k", sometimes_the_input_itself).ok


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        ([0.05, 0.19, 0.76], "right", ""),
        (np.array([1, 4, 16]) / 21, "right", ""),
        (np.array([1, 4, 16], dtype=np.float32) / 21, "right", ""),
        ([1, 4, 16], "mistake", "not normalized"),
        ([0.05, 0.19, 0.5], "wrong", "1 of 3 numbers is wrong; look again at number 3"),
        ([0.05, 0.19, 0.77], "wrong", "look again at number 3"),
        ([0.05, 0.19], "wrong", r"The shape is \(2,\), expected \(3,\)"),
        ([..., ..., ...], "not attempted", ""),
        ([[1], [2, 3]], "wrong", "values of type object"),
        ("0.05", "wrong", "Expected numbers, got a str"),
        (np.nan, "wrong", "The shape is"),
        ([np.nan] * 3, "wrong", "3 of 3 numbers are wrong; look again at number 1"),
        (softmax, "wrong", "the value itself, not for a function"),
        (True, "wrong", "got True and False"),
    ],
)
def test_values_by_hand(answer, status, message):
    verdict = check("sampling-by-hand", answer)
    assert verdict.status == status, verdict
    assert re.search(message, verdict.message), verdict.message


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        (3, "right", ""),
        (np.float32(3), "right", ""),
        ([3], "wrong", r"^Expected a single number, got \[3\]\.$"),
        (np.array([[3.0]]), "wrong", r"^Expected a single number, got \[\[3\]\] of shape \(1, 1\)\.$"),
        ([], "wrong", r"^Expected a single number, got \[\]\.$"),
        (4, "wrong", "4 is not it"),
    ],
)
def test_a_single_number_by_hand(answer, status, message):
    verdict = check("matmul-one-output", answer)
    assert verdict.status == status, verdict
    assert re.search(message, verdict.message), verdict.message


@pytest.mark.parametrize("wrapped", [list, tuple])
def test_a_function_that_lists_its_single_number_is_not_told_to_make_an_array(wrapped):
    count = exercises.find("block-count").reference
    verdict = check(
        "block-count",
        lambda vocabulary, context, width, layers: wrapped([count(vocabulary, context, width, layers)]),
    )
    assert verdict.status == "wrong" and verdict.message == f"Expected a number, got a {wrapped.__name__}."


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("attention-two-keys", [4, 2], "dot products, no weights"),
        ("attention-two-keys", [7.39, 2.72], "powers, not divided"),
        ("attention-two-keys", [1, 0.37], "powers, largest score subtracted"),
        ("matmul-unseen", [1, -1, 0], "the third number is 0"),
        ("matmul-unseen", [1, -1, 1], "the second output only"),
        ("matmul-unseen", [-1, -1, 1], "begins with −1"),
        ("matmul-unseen", [2, 2, -2], "begins with 2"),
        ("block-by-hand", 147, "the block alone"),
        ("learning-one-step", 1.8, "the step itself"),
        ("positions-one-turn", [1.96, 1.07], "degrees"),
        ("positions-one-turn", [2.0, 1.1], "degrees"),
        ("training-surprise", 1.39, "one surprise alone"),
        ("training-surprise", 1.386, "one surprise alone"),
    ],
)
def test_a_mistake_worked_by_hand_is_named_as_it_is_written(name, answer, mistake):
    verdict = check(name, answer)
    assert verdict.status == "mistake" and verdict.message.startswith(mistake), verdict


def test_a_return_inside_the_outermost_loop_is_named():
    def returns_early(X, W):
        Z = np.zeros((X.shape[0], W.shape[1]))
        for t in range(X.shape[0]):
            for j in range(W.shape[1]):
                for i in range(X.shape[1]):
                    Z[t, j] += X[t, i] * W[i, j]
            return Z

    assert check("matmul-loops", returns_early).message.startswith("only the first row is filled")


def test_the_rows_are_counted_with_the_token_that_comes_out():
    def grown_first(prompt, new):
        rows, length = 0, prompt
        for _ in range(new):
            length += 1
            rows += length
        return np.array([prompt + new - 1, rows])

    assert check("generation-rows", grown_first).message.startswith("new token counted without the cache")


@pytest.mark.parametrize(
    ("longer", "cut", "mistake"),
    [(1, False, "warm-up one step too long"), (0, True, "cut off at the floor")],
)
def test_a_schedule_as_it_is_written(longer, cut, mistake):
    def my_rate(step, peak, steps, warmup, floor):
        if step < warmup + longer:
            return peak * (step + 1) / warmup
        fall = (1 + np.cos(np.pi * (step - warmup) / (steps - warmup))) / 2
        return max(floor, peak * fall) if cut else floor + (peak - floor) * fall

    assert check("training-schedule", my_rate).message.startswith(mistake)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["sampling-top-k", "sampling-top-p"])
def test_an_answer_that_is_nearly_right_beside_dropped_words_gives_no_warning(name):
    reference = exercises.find(name).reference
    verdict = check(name, lambda logits, setting: reference(logits, setting) + 1e-6)
    assert verdict.status == "wrong" and "They differ by up to 1.0e-06." in verdict.message, verdict


def test_infinities_that_differ_are_not_subtracted():
    exercise = Exercise("x", "X", lambda x: x, lambda rng: [(1,)])
    assert "differ by" not in difference(exercise, (1,), np.array([np.inf, 1.0]), np.array([-np.inf, 1.0]))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning-one-step", 2.8),
        ("positions-one-turn", None),
        ("training-surprise", None),
        ("matmul-one-output", 3),
    ],
)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_pencil_s_value_may_be_rounded_to_float32(name, value, kind):
    exercise = exercises.find(name)
    value = exercise.outputs(exercise.reference)[0] if value is None else value
    assert check(name, kind(value)).ok and check(name, np.asarray(value, dtype=kind)).ok
    assert not check(name, kind(np.asarray(value) * 1.1))


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True, np.random.default_rng(0), [1], 1e400])
@pytest.mark.parametrize("name", ["sampling-softmax", "learning-one-step"])
def test_a_seed_that_is_none_is_named(name, seed):
    with pytest.raises(ValueError, match=r"^check: seed must be a whole number of at least 0, got "):
        check(name, softmax, seed)


def test_a_seed_may_be_numpy_s():
    assert check("sampling-softmax", lambda logits: softmax(logits), np.int64(3)).ok


def test_html_escapes_what_it_shows():
    def tagged(logits):
        raise ValueError("<b>")

    assert "&lt;b&gt;" in check("sampling-softmax", tagged)._repr_html_()
