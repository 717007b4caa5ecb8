import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shape_calls import ENGINES, convert, to_numpy

from plainformer.positions import relative_bias, rope, sinusoidal

on_both_engines = pytest.mark.parametrize("engine", ENGINES)
both_pairings = pytest.mark.parametrize("pairing", ["neighbours", "halves"])


# Sinusoids


def test_sinusoidal_values():
    table = sinusoidal(3, 4)
    np.testing.assert_allclose(table[0], [0, 1, 0, 1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(table[1], [0.84147098, 0.54030231, 0.00999983, 0.99995], rtol=0, atol=6e-9)
    np.testing.assert_allclose((table**2).sum(axis=1), 2, rtol=1e-14)


@given(st.integers(1, 40), st.integers(1, 8).map(lambda half: 2 * half))
def test_sinusoidal_is_the_papers_formula(length, width):
    table = sinusoidal(length, width)
    for position, i in np.ndindex(length, width // 2):
        angle = position / 10000 ** (2 * i / width)
        np.testing.assert_allclose(
            table[position, 2 * i : 2 * i + 2], [math.sin(angle), math.cos(angle)], rtol=0, atol=1e-12
        )


def test_a_step_turns_every_sinusoid_by_the_same_angle():
    # Why the paper chose them: row p + k is a linear map of row p, whatever p is.
    table = sinusoidal(9, 6)
    swapped = [1, 0, 3, 2, 5, 4]  # sine and cosine the other way round are a pair that rope turns
    turned = rope(table[:, swapped], np.full(9, 3))[:, swapped]
    np.testing.assert_allclose(turned[:6], table[3:], atol=1e-12)


@pytest.mark.parametrize("width", [1, 3, 7])
def test_an_odd_width_is_refused(width):
    with pytest.raises(ValueError, match=f"sinusoidal: width must be even, got {width}"):
        sinusoidal(3, width)
    with pytest.raises(ValueError, match=f"rope: x must have an even width D, got D = {width}"):
        rope(np.ones((1, width)), [0])


# A bias for each distance


@on_both_engines
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 4))
def test_relative_bias_looks_up_the_distance(engine, queries, more, width):
    table = np.arange(2.0 * width).reshape(2, width)
    keys = queries + more - 1
    result = to_numpy(relative_bias(convert(table, engine), queries, keys))
    for head, t, s in np.ndindex(2, queries, keys):
        distance = t + keys - queries - s
        assert result[head, t, s] == table[head, min(max(distance, 0), width - 1)]


def test_relative_bias_refuses_more_queries_than_keys():
    with pytest.raises(ValueError, match="relative_bias: queries = 3 must not exceed keys = 2"):
        relative_bias(np.ones((1, 2)), 3, 2)


# Rotary positions


@on_both_engines
@pytest.mark.parametrize(
    "pairing, expected",
    [
        ("neighbours", [-1.14263966, 1.92207560, 2.95985067, 4.02979950]),
        ("halves", [-1.98411065, 1.95990067, 2.46237790, 4.01979967]),
    ],
)
def test_rope_values(engine, pairing, expected):
    row = convert(np.array([[1.0, 2, 3, 4]]), engine)
    np.testing.assert_allclose(
        to_numpy(rope(row, [1], base=1e4, pairing=pairing))[0], expected, rtol=0, atol=6e-9
    )
    np.testing.assert_array_equal(to_numpy(rope(row, [0], pairing=pairing)), [[1, 2, 3, 4]])


@on_both_engines
@both_pairings
@given(st.integers(0, 99), st.integers(0, 5000), st.integers(0, 5000))
def test_a_dot_product_depends_on_the_distance_alone(engine, pairing, seed, position, shift):
    query, key = (convert(x, engine) for x in np.random.default_rng(seed).normal(size=(2, 1, 6)))

    def score(at, other):
        return to_numpy(rope(query, [at], pairing=pairing) @ rope(key, [other], pairing=pairing).T)

    here, there = score(position + 7, position), score(position + 7 + shift, position + shift)
    np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-9)
    if shift:
        assert abs(score(position + 7 + shift, position) - here) > 1e-9


@on_both_engines
@given(st.integers(0, 99), st.integers(1, 6).map(lambda half: 2 * half))
def test_the_pairings_are_equal_up_to_a_permutation(engine, seed, width):
    x = np.random.default_rng(seed).normal(size=(2, 3, width))
    order = np.concatenate(
        [np.arange(0, width, 2), np.arange(1, width, 2)]
    )  # neighbours side by side -> halves
    neighbours = rope(convert(x, engine), [0, 4, 9])
    halves = rope(convert(x[..., order], engine), [0, 4, 9], pairing="halves")
    np.testing.assert_allclose(to_numpy(halves), to_numpy(neighbours)[..., order], rtol=1e-14)


@both_pairings
def test_rope_keeps_the_length_of_every_row(pairing):
    x = np.random.default_rng(0).normal(size=(4, 5, 8))
    turned = rope(x, np.arange(5) * 1000, pairing=pairing)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-13)


@pytest.mark.parametrize("base", [100.0, 1e4, 5e5])
def test_halves_against_the_rotary_embedding_of_transformers(base):
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = LlamaConfig(
        hidden_size=32, num_attention_heads=4, rope_parameters={"rope_type": "default", "rope_theta": base}
    )
    positions = torch.tensor([[0, 1, 5, 90]])
    query, key = torch.randn(2, 1, 4, 4, 8, generator=torch.Generator().manual_seed(0))
    cos, sin = LlamaRotaryEmbedding(config)(query, positions)
    for x, expected in zip((query, key), apply_rotary_pos_emb(query, key, cos, sin)):
        torch.testing.assert_close(rope(x, positions[0], base, "halves"), expected, rtol=1e-5, atol=2e-5)


def test_rope_keeps_single_precision_and_turns_far_positions_exactly():
    x = np.array([[1.0, 0.0]], dtype=np.float32)
    turned = rope(x, [1_000_003])
    assert turned.dtype == np.float32
    np.testing.assert_allclose(turned, [[math.cos(1_000_003), math.sin(1_000_003)]], atol=1e-7)


@pytest.mark.parametrize("pairing", ["half", "interleaved", None, 0])
def test_another_pairing_is_refused(pairing):
    with pytest.raises(ValueError, match='rope: pairing must be "neighbours" or "halves", got'):
        rope(np.ones((1, 2)), [0], pairing=pairing)


@pytest.mark.parametrize("base", [0, -1, math.nan, math.inf, "1e4", None])
def test_a_wrong_base_is_named(base):
    with pytest.raises(ValueError, match="rope: base must be a finite number, greater than 0, got"):
        rope(np.ones((1, 2)), [0], base=base)


def test_positions_must_fit():
    with pytest.raises(ValueError, match="rope: positions has T = 3, x has T = 2: they must be equal"):
        rope(np.ones((2, 4)), [0, 1, 2])
    with pytest.raises(TypeError, match="rope: positions must be whole numbers, got float64"):
        rope(np.ones((2, 4)), np.array([0.0, 1.0]))
