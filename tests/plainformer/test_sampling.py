from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shape_calls import calls

from plainformer.sampling import apply_temperature, drop, probabilities, sample, top_k, top_p

FUNCTIONS = {
    "apply_temperature": lambda z: apply_temperature(z, 0.7),
    "top_k": lambda z: top_k(z, 2),
    "top_p": lambda z: top_p(z, 0.8),
    "drop": lambda z: drop(z, [0]),
    "probabilities": lambda z: probabilities(z, 0.7, 3, 0.8),
    "sample": lambda z: sample(z, np.random.default_rng(0), 0.7, 3, 0.8),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)
BELOW = 1e-12  # a sum of probabilities that is this close to p has reached it


@st.composite
def rows(draw, most=7):
    """One row of logits, with ties and large gaps."""
    element = st.one_of(st.integers(-3, 3).map(float), st.floats(-20, 20), st.sampled_from([-500.0, 500.0]))
    return np.array(draw(st.lists(element, min_size=1, max_size=most)))


def kept(logits):
    return set(np.flatnonzero(np.isfinite(logits)).tolist())


def best_first(logits):
    """Ids, likeliest first, of equal ones the lower."""
    return sorted(range(len(logits)), key=lambda i: (-logits[i], i))


# Temperature


@given(calls(apply_temperature), st.floats(0.05, 50))
def test_temperature_divides(call, temperature):
    (logits,) = call.arguments()
    np.testing.assert_allclose(apply_temperature(logits, temperature), logits / temperature, rtol=1e-15)


@given(rows())
def test_temperature_1_changes_nothing(logits):
    np.testing.assert_array_equal(apply_temperature(logits, 1), logits)
    np.testing.assert_array_equal(probabilities(logits, 1), probabilities(logits, 1.0))


@given(rows())
def test_temperature_0_keeps_the_first_of_the_largest(logits):
    assert kept(apply_temperature(logits, 0)) == {int(np.argmax(logits))}
    np.testing.assert_array_equal(probabilities(logits, 0), np.eye(len(logits))[np.argmax(logits)])


def test_temperature_0_is_argmax_for_100_seeds():
    with np.errstate(all="raise"):
        for seed in range(100):
            logits = np.random.default_rng(seed).normal(size=(3, 50)) * 30
            for temperature in (0, 0.0, np.float32(0), 1e-320):
                ids = sample(logits, np.random.default_rng(seed), temperature)
                np.testing.assert_array_equal(ids, logits.argmax(axis=-1))


@pytest.mark.parametrize("temperature", [5e-324, 1e-310, 1e-300, 1e-250, 1e-199, 1e-100, 1e-9, 1e100, 1e308])
def test_no_temperature_overflows(temperature):
    for logits in (
        np.array([-1e5, -3e5, 2e5, 0]),
        np.array([3e38, -3e38, 0, 1]),
        np.array([1.0, -np.inf, 2, 3]),
    ):
        result = probabilities(logits, temperature)
        assert result[logits.argmax()] == result.max() and result.sum() == pytest.approx(1)
    assert result[1] == 0


@pytest.mark.parametrize("temperature", [5e-324, 1e-200, 1e-10, 0.1, 1])
def test_no_logits_overflow(temperature):
    for logits, expected in [
        ([1e300, 0], [1, 0]),
        ([1e300, 1e300, 0], [0.5, 0.5, 0]),
        ([-1e300, -1e307], [1, 0]),
        ([-1e300, -np.inf], [1, 0]),
    ]:
        np.testing.assert_array_equal(probabilities(np.array(logits), temperature), expected)
        assert logits[sample(np.array(logits), np.random.default_rng(0), temperature)] == max(logits)
    rows = np.array([[1e308, 0], [1.0, 2.0]])  # each row by itself
    np.testing.assert_array_equal(apply_temperature(rows, 0.25)[1], [4, 8])


@pytest.mark.parametrize("temperature", [-1, -1e-9, np.nan, np.inf, "1", None, True, [1.0], 10**400])
def test_a_wrong_temperature_is_named(temperature):
    for function in (apply_temperature, probabilities, lambda z, t: sample(z, np.random.default_rng(0), t)):
        with pytest.raises(
            ValueError, match="apply_temperature: temperature must be a finite number, at least 0, got"
        ):
            function(np.zeros(3), temperature)


# Top-k


@given(rows(), st.integers(1, 10))
def test_top_k_keeps_the_k_largest_in_their_places(logits, k):
    result = top_k(logits, k)
    assert kept(result) == set(best_first(logits)[:k])
    assert len(kept(result)) == min(k, len(logits))
    stay = np.isfinite(result)
    np.testing.assert_array_equal(result[stay], logits[stay])


@given(st.integers(0, 999), st.integers(1, 9))
def test_top_k_against_pytorch(seed, k):
    logits = np.random.default_rng(seed).normal(size=(2, 3, 9))
    values, ids = torch.topk(torch.tensor(logits), k)
    expected = torch.full((2, 3, 9), -torch.inf, dtype=torch.float64).scatter(-1, ids, values)
    np.testing.assert_array_equal(top_k(logits, k), expected)


@pytest.mark.parametrize("k", [3, 4, 1000, np.int64(3)])
def test_top_k_of_all_changes_nothing(k):
    logits = np.array([3.0, -np.inf, 1.0])
    np.testing.assert_array_equal(top_k(logits, k), logits)


def test_top_k_of_ties_takes_the_lowest_ids():
    for k in range(1, 6):
        assert kept(top_k(np.zeros(5), k)) == set(range(k))
    assert kept(top_k(np.array([1.0, 2, 2, 2, 3]), 3)) == {1, 2, 4}


@pytest.mark.parametrize("k", [0, -1, 1.0, 2.5, "2", True, np.nan, [2], np.int64(0)])
def test_a_wrong_k_is_named(k):
    for function in (
        top_k,
        lambda z, k: probabilities(z, top_k=k),
        lambda z, k: sample(z, np.random.default_rng(0), top_k=k),
    ):
        with pytest.raises(ValueError, match="top_k: k must be a whole number of at least 1, got"):
            function(np.zeros(3), k)


# Top-p


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "chances, p, expected",
    [
        ([0.3, 0.1, 0.1, 0.5], 0.8, {0, 3}),
        ([0.4, 0.3, 0.2, 0.1], 0.8, {0, 1, 2}),
        ([0.1, 0.2, 0.7], 0.8, {1, 2}),
        ([0.1, 0.2, 0.7], 0.5, {2}),
        ([0.1, 0.2, 0.7], 1e-9, {2}),
        ([0.1, 0.2, 0.7], 1e-300, {2}),
        ([0.1, 0.2, 0.7], 1, {0, 1, 2}),
        ([0.1, 0.2, 0.7], 1.0, {0, 1, 2}),
        ([0.5, 0.25, 0.125, 0.125], 0.75, {0, 1}),
        ([0.25, 0.25, 0.25, 0.25], 0.5, {0, 1}),
        ([1.0], 0.3, {0}),
    ],
)
def test_top_p_edges(chances, p, expected, dtype):
    with np.errstate(all="raise"):
        assert kept(top_p(np.log(np.array(chances, dtype=dtype)), p)) == expected


@given(rows(most=5), st.floats(0.01, 0.99))
def test_top_p_keeps_the_smallest_set_that_reaches_p(logits, p):
    chances = torch.softmax(torch.tensor(logits), -1).numpy()
    stay = kept(top_p(logits, p))
    assert stay == set(best_first(logits)[: len(stay)])
    assert chances[list(stay)].sum() >= p - BELOW
    smaller = combinations(range(len(logits)), len(stay) - 1)
    assert all(chances[list(ids)].sum() < p + BELOW for ids in smaller)


@given(rows())
def test_top_p_of_1_keeps_all(logits):
    result = top_p(logits, 1)
    np.testing.assert_array_equal(result, logits)
    assert not np.shares_memory(result, logits)


@given(rows(), st.floats(1e-9, 1))
def test_top_p_moves_and_changes_nothing_that_it_keeps(logits, p):
    result = top_p(logits, p)
    stay = np.isfinite(result)
    assert stay.any()
    np.testing.assert_array_equal(result[stay], logits[stay])


def test_top_p_treats_each_row_alone():
    logits = np.log([[0.3, 0.1, 0.1, 0.5], [0.97, 0.01, 0.01, 0.01], [0.25, 0.25, 0.25, 0.25]])
    together = top_p(logits, 0.8)
    assert [kept(row) for row in together] == [{0, 3}, {0}, {0, 1, 2, 3}]
    np.testing.assert_array_equal(together, [top_p(row, 0.8) for row in logits])


@pytest.mark.parametrize("p", [0, 0.0, -0.1, 1.0001, np.nan, np.inf, "0.5", True, [0.5]])
def test_a_wrong_p_is_named(p):
    for function in (
        top_p,
        lambda z, p: probabilities(z, top_p=p),
        lambda z, p: sample(z, np.random.default_rng(0), top_p=p),
    ):
        with pytest.raises(
            ValueError, match="top_p: p must be a finite number, greater than 0 and at most 1, got"
        ):
            function(np.zeros(3), p)


# Everything together


@given(calls(probabilities), st.floats(0.1, 10))
def test_probabilities_against_pytorch(call, temperature):
    (logits,) = call.arguments()
    expected = torch.softmax(torch.tensor(logits) / temperature, -1)
    np.testing.assert_allclose(probabilities(logits, temperature), expected, rtol=1e-12, atol=1e-14)


@given(rows(), st.floats(0, 3), st.none() | st.integers(1, 8), st.none() | st.floats(0.01, 1))
def test_the_order_is_temperature_then_k_then_p(logits, temperature, k, p):
    scores = apply_temperature(logits, temperature)
    scores = scores if k is None else top_k(scores, k)
    scores = scores if p is None else top_p(scores, p)
    expected = torch.softmax(torch.tensor(scores), -1)
    result = probabilities(logits, temperature, k, p)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)
    assert result.sum() == pytest.approx(1, rel=1e-12)


def test_temperature_comes_before_top_p():
    logits = np.array([3.0, 2.0, 1.0])
    np.testing.assert_array_equal(probabilities(logits, 0.5, top_p=0.8), [1, 0, 0])
    later = apply_temperature(top_p(logits, 0.8), 0.5)
    assert kept(later) == {0, 1}
    np.testing.assert_allclose(probabilities(later), [0.88079708, 0.11920292, 0], rtol=0, atol=6e-9)


def test_top_k_comes_before_top_p():
    # On the whole distribution the first word has 0.4; among the first two it has 2/3, which reaches 0.5.
    logits = np.log([0.4, 0.2, 0.2, 0.2])
    np.testing.assert_allclose(probabilities(logits, top_k=2, top_p=0.5), [1, 0, 0, 0])
    assert kept(top_k(top_p(logits, 0.5), 2)) == {0, 1}


# Words that are never drawn


def test_dropped_words_get_minus_infinity():
    logits = np.array([[1.0, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(drop(logits, [2, 0]), [[-np.inf, 2, -np.inf], [-np.inf, 5, -np.inf]])
    np.testing.assert_array_equal(drop(logits, []), logits)


@pytest.mark.parametrize("ids, got", [([3], 3), ([-1], -1), ([True, False], True), ([0.0], 0.0)])
def test_words_to_drop_are_ids(ids, got):
    with pytest.raises(ValueError, match=rf"drop: ids\[0\] must be a whole number from 0 to 2, got {got}"):
        drop(np.zeros(3), ids)


# Draws


def test_draws_follow_the_probabilities():
    logits = np.log([0.5467, 0.2087, 0.1209, 0.0626, 0.0611])
    draws = 100_000
    chances = probabilities(logits, 0.8, top_k=4)
    # One call for all: a row for each draw.
    ids = sample(np.broadcast_to(logits, (draws, 5)), np.random.default_rng(0), 0.8, top_k=4)
    frequencies = np.bincount(ids, minlength=5) / draws
    assert frequencies[4] == 0 == chances[4]
    assert (np.abs(frequencies - chances) <= 4 * np.sqrt(chances * (1 - chances) / draws)).all()


def test_float32_logits_of_a_whole_vocabulary_can_be_drawn_from():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        logits = (rng.normal(size=49152) * 3).astype(np.float32)
        assert 0 <= sample(logits, rng) < 49152


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
@every_function
def test_all_arithmetic_is_in_float64(name, dtype):
    logits = np.array([3, 1, 2, 2], dtype=dtype)
    result = FUNCTIONS[name](logits)
    np.testing.assert_array_equal(result, FUNCTIONS[name](logits.astype(np.float64)))
    assert name == "sample" or result.dtype == np.float64


def test_one_row_gives_an_int_and_more_give_an_array():
    rng = np.random.default_rng(0)
    assert type(sample(np.zeros(5), rng)) is int
    for leading in ((1,), (3,), (2, 3), (0,), (2, 0)):
        ids = sample(np.zeros((*leading, 5)), rng)
        assert isinstance(ids, np.ndarray) and ids.shape == leading and ids.dtype.kind == "i"


def test_the_generator_decides():
    logits = np.zeros((20, 50))
    first, again, other = (sample(logits, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    rng = np.random.default_rng(1)
    np.testing.assert_array_equal(sample(logits, rng), first)
    assert (sample(logits, rng) != first).any()


# What comes in


@every_function
@given(logits=rows())
def test_the_logits_are_left_alone(name, logits):
    before = logits.copy()
    result = FUNCTIONS[name](logits)
    np.testing.assert_array_equal(logits, before)
    assert name == "sample" or not np.shares_memory(result, logits)


@every_function
@pytest.mark.parametrize(
    "logits, error, message",
    [
        (np.zeros((2, 0)), ValueError, "logits have V = 0"),
        (np.array([1.0, np.nan]), ValueError, "logits must not hold NaN or \\+inf"),
        (np.array([1.0, np.inf]), ValueError, "logits must not hold NaN or \\+inf"),
        (np.array([[1.0, 2.0], [-np.inf, -np.inf]]), ValueError, "every logit of a row is -inf"),
        (np.array([1, 2], dtype=complex), TypeError, "logits must hold real numbers, got complex128"),
        (np.array([True, False]), TypeError, "logits must hold real numbers, got bool"),
        (np.array(1.0), ValueError, "logits must have shape \\(\\.\\.\\., V\\), got \\(\\)"),
        (torch.zeros(3), TypeError, "logits must be a NumPy array, got Tensor"),
        ([1.0, 2.0], TypeError, "logits must be a NumPy array or a PyTorch tensor, got list"),
        (None, TypeError, "logits is missing, expected"),
    ],
)
def test_wrong_logits_are_named(name, logits, error, message):
    with pytest.raises(error, match=rf": {message}"):
        FUNCTIONS[name](logits)


@every_function
def test_words_dropped_before_stay_dropped(name):
    result = FUNCTIONS[name](np.array([-np.inf, 2.0, -np.inf, 1.0]))
    if name == "sample":
        assert result in (1, 3)
    else:
        np.testing.assert_array_equal(result[[0, 2]], 0 if name == "probabilities" else -np.inf)


@pytest.mark.parametrize("rng", [None, 0, np.random, np.random.RandomState(0), torch.Generator()])
def test_a_wrong_generator_is_named(rng):
    with pytest.raises(TypeError, match="sample: rng must be a numpy.random.Generator, got"):
        sample(np.zeros(3), rng)
