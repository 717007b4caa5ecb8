import numpy as np
import pytest
import torch
import torch.nn.functional as F
from against_torch import Case, against_pytorch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shape_calls import ENGINES, calls, convert, to_numpy

from plainformer.attention import (
    Attention,
    attention,
    attention_weights,
    causal_mask,
    merge_heads,
    multi_head_attention,
    repeat_heads,
    split_heads,
)
from plainformer.linear import Linear
from plainformer.shapes import shaped
from plainformer.training import mapped

on_both_engines = pytest.mark.parametrize("engine", ENGINES)


def torch_attention(query, key, value, mask=None, **options):
    """PyTorch's, with leading axes broadcast for it, and zeros where a query may look at nothing."""
    leading = np.broadcast_shapes(
        *(x.shape[:-2] for x in (query, key, value) + (() if mask is None else (mask,)))
    )
    q, k, v = (x.expand(*leading, *x.shape[-2:]) for x in (query, key, value))
    result = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **options)
    return result if mask is None else torch.where(mask.any(-1, keepdim=True), result, 0)


def torch_weights(query, key, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is None:
        return torch.softmax(scores, -1)
    return torch.nan_to_num(torch.softmax(scores.masked_fill(~mask, -torch.inf), -1))


def score_scale(query, key):
    """The largest sum of terms behind a score of each query; a weight's error is that, times its size of at
    most 1.
    """
    return 1 + (query.abs() @ key.abs().mT / query.shape[-1] ** 0.5).amax(-1, keepdim=True)


def attention_scale(query, key, value, mask=None):
    return score_scale(query, key) * value.abs().amax(-2, keepdim=True)


def heads_first(x, count):
    return x.unflatten(-1, (count, -1)).transpose(-2, -3)


def torch_linear(rows, weight, bias=None):
    return F.linear(rows, weight.mT, bias)


def torch_projections(x, p, heads, context):
    """Queries, keys and values with heads first, the keys and values repeated by PyTorch's own means."""
    context = x if context is None else context
    q = heads_first(torch_linear(x, *p.query), heads)
    groups = p.key.weight.shape[-1] // q.shape[-1]
    k = heads_first(torch_linear(context, *p.key), groups)
    v = heads_first(torch_linear(context, *p.value), groups)
    return q, k.repeat_interleave(heads // groups, -3), v.repeat_interleave(heads // groups, -3)


def torch_multi_head(x, p, heads, mask=None, context=None):
    mask = None if mask is None else mask.unsqueeze(-3)
    mixed = torch_attention(*torch_projections(x, p, heads, context), mask)
    return torch_linear(mixed.transpose(-2, -3).flatten(-2), *p.output)


def multi_head_scale(x, p, heads, mask=None, context=None):
    magnitudes = mapped(torch.abs, p)
    q, k, v = torch_projections(x.abs(), magnitudes, heads, None if context is None else context.abs())
    mixed = attention_scale(q, k, v).transpose(-2, -3).flatten(-2)
    return torch_linear(mixed, *magnitudes.output).amax()  # one number: a mask may add leading axes


@against_pytorch(
    Case(attention_weights, torch_weights, lambda q, k, mask=None: score_scale(q, k).amax()),
    Case(attention, torch_attention, lambda *arguments: attention_scale(*arguments).amax()),
    Case(split_heads, heads_first),
    Case(merge_heads, lambda x: x.transpose(-2, -3).flatten(-2)),
    Case(repeat_heads, lambda x, times: x.repeat_interleave(times, -3)),
    Case(multi_head_attention, torch_multi_head, multi_head_scale, bound=3.0),
)
def test_against_pytorch(case, check):
    check(case)


# Weights and masks


@on_both_engines
@given(data=st.data())
def test_weights_sum_to_one_or_to_zero(engine, data):
    call = data.draw(calls(attention_weights))
    weights, mask = to_numpy(call.run(engine)), call.flat[2]
    expected = 1 if mask is None else np.broadcast_to(mask, weights.shape).any(axis=-1)
    np.testing.assert_allclose(weights.sum(axis=-1), expected, rtol=1e-14)
    assert (weights >= 0).all() and (mask is None or not (weights * ~mask).any())


@on_both_engines
def test_a_query_that_may_look_at_nothing_gets_zeros(engine):
    rng = np.random.default_rng(0)
    q, k, v = (convert(rng.normal(size=shape), engine) for shape in ((3, 4), (5, 4), (5, 2)))
    mask = np.ones((3, 5), dtype=bool)
    mask[1] = False
    rows = to_numpy(attention(q, k, v, mask))
    np.testing.assert_array_equal(rows[1], 0)
    np.testing.assert_allclose(rows[[0, 2]], to_numpy(attention(q, k, v))[[0, 2]], rtol=1e-14)


def test_the_gradient_of_an_empty_row_is_zero_not_nan():
    q, k, v = (
        torch.ones(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 4), (3, 4), (3, 5))
    )
    attention(q, k, v, np.array([[False] * 3, [True, True, False]])).sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in (q, k, v))
    assert not q.grad[0].any() and not v.grad[2].any()


@on_both_engines
def test_a_masked_key_gets_nothing_however_low_the_others_score(engine):
    query, key = np.array([[-20000.0]]), np.array([[1.0], [0.0]])
    with np.errstate(all="raise"):
        weights = attention_weights(convert(query, engine), convert(key, engine), np.array([[True, False]]))
    np.testing.assert_array_equal(to_numpy(weights), [[1, 0]])


@on_both_engines
@given(data=st.data())
def test_what_is_masked_has_no_influence(engine, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    q, k, v = rng.normal(size=(4, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    hidden = data.draw(st.integers(0, 4))
    mask = np.arange(5)[None] != np.full((4, 1), hidden)
    before = attention(*(convert(x, engine) for x in (q, k, v)), mask)
    k[hidden], v[hidden] = 1e3, -1e3
    after = attention(*(convert(x, engine) for x in (q, k, v)), mask)
    np.testing.assert_array_equal(to_numpy(before), to_numpy(after))


@pytest.mark.parametrize(
    "make",
    [
        lambda m: m,
        lambda m: m[::-1, ::-1],
        lambda m: m.T,
        lambda m: np.broadcast_to(m[:1], m.shape),
        torch.tensor,
    ],
    ids=["plain", "reversed", "transposed", "read-only", "tensor"],
)
@on_both_engines
def test_every_kind_of_boolean_mask_serves_both_engines(engine, make):
    mask = make(causal_mask(3))
    x = convert(np.random.default_rng(0).normal(size=(3, 4)), engine)
    params = Attention(*(Linear(convert(np.eye(4), engine)) for _ in range(4)))
    expected = torch_attention(*[torch.tensor(to_numpy(x))] * 3, torch.tensor(to_numpy(mask) == 1))
    np.testing.assert_allclose(to_numpy(attention(x, x, x, mask)), expected, rtol=1e-12)
    np.testing.assert_allclose(to_numpy(multi_head_attention(x, params, 1, mask)), expected, rtol=1e-12)


@on_both_engines
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64"])
def test_a_mask_of_either_engine_serves_numbers_that_are_converted(engine, dtype):
    if engine == "numpy" and dtype == "bfloat16":
        return  # NumPy has none
    x = convert(np.arange(6.0).reshape(3, 2), engine, dtype)
    params, mask = Attention(*[Linear(convert(np.eye(2), engine, dtype))] * 4), causal_mask(3)
    for call in (lambda m: attention(x, x, x, m), lambda m: multi_head_attention(x, params, 1, m)):
        np.testing.assert_array_equal(to_numpy(call(mask)), to_numpy(call(torch.tensor(mask))))


@pytest.mark.parametrize("dtype", [float, int, np.float16, np.uint8])
def test_a_mask_of_numbers_is_refused(dtype):
    x, mask = np.ones((3, 4)), causal_mask(3).astype(dtype)
    params = Attention(*[Linear(np.eye(4))] * 4)
    for name, call in {
        "attention_weights": lambda: attention_weights(x, x, mask),
        "attention": lambda: attention(x, x, x, mask),
        "multi_head_attention": lambda: multi_head_attention(x, params, 2, mask),
    }.items():
        with pytest.raises(TypeError, match=rf"^{name}: mask must be boolean \(True = may look\)"):
            call()


@on_both_engines
def test_no_keys_at_all(engine):
    q, k, v = (convert(np.ones(shape), engine) for shape in ((2, 3), (0, 3), (0, 4)))
    np.testing.assert_array_equal(to_numpy(attention(q, k, v)), np.zeros((2, 4)))


@on_both_engines
def test_scores_are_scaled_by_the_width_of_a_query(engine):
    q, k = np.ones((1, 4)), np.stack([np.ones(4), np.zeros(4)])
    weights = to_numpy(attention_weights(convert(q, engine), convert(k, engine)))
    np.testing.assert_allclose(weights, [[0.88079708, 0.11920292]], rtol=0, atol=6e-9)


# Causal masks


@given(st.integers(1, 8), st.integers(1, 8))
def test_causal_mask_lets_the_last_queries_look_back(queries, keys):
    assume(queries <= keys)
    mask = causal_mask(queries, keys)
    position = np.arange(keys)
    np.testing.assert_array_equal(mask, position[None, :] <= position[-queries:, None])
    assert mask.dtype == bool and mask[-1].all()
    np.testing.assert_array_equal(causal_mask(keys)[-queries:], mask)


def test_causal_mask_values():
    np.testing.assert_array_equal(causal_mask(2, 5), [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]])
    np.testing.assert_array_equal(causal_mask(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])


@on_both_engines
@pytest.mark.parametrize("queries, expected", [(1, [[3]]), (2, [[1.5], [3]]), (3, [[1], [1.5], [3]])])
def test_causal_mask_over_equal_scores_takes_means(engine, queries, expected):
    q, k, v = (
        convert(x, engine) for x in (np.zeros((queries, 1)), np.zeros((3, 1)), np.array([[1.0], [2], [6]]))
    )
    np.testing.assert_allclose(to_numpy(attention(q, k, v, causal_mask(queries, 3))), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", [int, np.int64])
def test_causal_mask_refuses_more_queries_than_keys(kind):
    causal_mask(kind(2), kind(3))
    with pytest.raises(ValueError, match="causal_mask: queries = 3 must not exceed keys = 2"):
        causal_mask(kind(3), kind(2))
    with pytest.raises(ValueError, match="causal_mask: queries must be a whole number of at least 1, got"):
        causal_mask(kind(-1), kind(3))


# Heads, each step alone: a round trip hides a fault


@on_both_engines
def test_split_heads_values(engine):
    result = split_heads(convert(np.arange(8).reshape(2, 4), engine), 2)
    np.testing.assert_array_equal(to_numpy(result), [[[0, 1], [4, 5]], [[2, 3], [6, 7]]])


@on_both_engines
def test_merge_heads_values(engine):
    result = merge_heads(convert(np.arange(8).reshape(2, 2, 2), engine))
    np.testing.assert_array_equal(to_numpy(result), [[0, 1, 4, 5], [2, 3, 6, 7]])


@on_both_engines
@pytest.mark.parametrize(
    "heads, times, expected",
    [
        ([10, 20], 2, [10, 10, 20, 20]),
        ([0, 1, 2], 3, [0, 0, 0, 1, 1, 1, 2, 2, 2]),
        ([4, 5], 1, [4, 5]),
    ],
)
def test_repeat_heads_keeps_a_group_together(engine, heads, times, expected):
    x = np.array(heads)[:, None, None] * np.ones((1, 2, 3))
    np.testing.assert_array_equal(to_numpy(repeat_heads(convert(x, engine), times))[:, 0, 0], expected)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
@pytest.mark.parametrize("dtype", ["float64", "float16", "int64"])
@on_both_engines
def test_heads_may_be_a_numpy_integer(engine, dtype, kind):
    x = convert(np.ones((3, 8)), engine, dtype)
    assert tuple(split_heads(x, kind(2)).shape) == (2, 3, 4)
    assert tuple(repeat_heads(x[None], kind(2)).shape) == (2, 3, 8)
    with pytest.raises(ValueError, match="split_heads: x has H\\*D = 8, which H = 3 does not divide"):
        split_heads(x, kind(3))


# Multi-head attention


def parameters(rng, width=6, context=6, heads=4, groups=2, size=5):
    shapes = [
        (width, heads * size),
        (context, groups * size),
        (context, groups * size),
        (heads * size, width),
    ]
    return Attention(*(Linear(rng.normal(size=shape), rng.normal(size=shape[1:])) for shape in shapes))


def test_against_the_module_with_copied_weights():
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(12, 4, batch_first=True, dtype=torch.float64)
    torch.nn.init.normal_(module.in_proj_bias)
    torch.nn.init.normal_(module.out_proj.bias)
    maps = zip([w.mT for w in module.in_proj_weight.chunk(3)], module.in_proj_bias.chunk(3))
    params = Attention(
        *(Linear(*pair) for pair in maps), Linear(module.out_proj.weight.mT, module.out_proj.bias)
    )
    x, context = torch.randn(2, 5, 12, dtype=torch.float64), torch.randn(2, 7, 12, dtype=torch.float64)
    mask = torch.tensor(causal_mask(5))
    for ours, theirs in [
        (multi_head_attention(x, params, 4), module(x, x, x)),
        (multi_head_attention(x, params, 4, mask), module(x, x, x, attn_mask=~mask)),
        (multi_head_attention(x, params, 4, context=context), module(x, context, context)),
    ]:
        torch.testing.assert_close(ours, theirs[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_grouped_heads_against_pytorchs_own_grouping(groups):
    rng = np.random.default_rng(0)
    params = mapped(torch.tensor, parameters(rng, groups=groups))
    x = torch.tensor(rng.normal(size=(2, 7, 6)))
    q = heads_first(torch_linear(x, *params.query), 4)
    k, v = (heads_first(torch_linear(x, *map_), groups) for map_ in (params.key, params.value))
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    expected = torch_linear(mixed.transpose(1, 2).flatten(2), *params.output)
    torch.testing.assert_close(
        multi_head_attention(x, params, 4, causal_mask(7)), expected, rtol=1e-12, atol=1e-12
    )


def test_the_loop_over_heads():
    rng = np.random.default_rng(0)
    params, x = parameters(rng, groups=4), rng.normal(size=(7, 6))
    q, k, v = (x @ weight + bias for weight, bias in params[:3])
    pieces = [attention(*(y[:, 5 * h : 5 * h + 5] for y in (q, k, v)), causal_mask(7)) for h in range(4)]
    expected = np.concatenate(pieces, axis=-1) @ params.output.weight + params.output.bias
    np.testing.assert_allclose(
        multi_head_attention(x, params, 4, causal_mask(7)), expected, rtol=1e-12, atol=1e-12
    )


@on_both_engines
def test_the_scale_is_the_width_of_a_head_not_of_the_model(engine):
    # Two heads of width 4 in a model of width 8. Keys of ones and zeros, and values that read the weights
    # off.
    wide = np.concatenate([np.eye(4), np.eye(4)], axis=1)
    x, context = np.ones((1, 4)), np.stack([np.ones(4), np.zeros(4)])
    params = Attention(*(Linear(convert(weight, engine)) for weight in (wide, wide, wide, np.eye(8)[:, :4])))
    result = multi_head_attention(convert(x, engine), params, 2, context=convert(context, engine))
    np.testing.assert_allclose(to_numpy(result), np.full((1, 4), 0.88079708), rtol=0, atol=6e-9)


@pytest.mark.parametrize("split", [(1, 11), (5, 7), (1,) * 12])
def test_queries_in_pieces_equal_queries_in_one_pass(split):
    rng = np.random.default_rng(0)
    params, x = parameters(rng), rng.normal(size=(12, 6))
    ends = np.cumsum(split)
    pieces = [
        multi_head_attention(x[end - n : end], params, 4, causal_mask(n, end), context=x[:end])
        for n, end in zip(split, ends)
    ]
    whole = multi_head_attention(x, params, 4, causal_mask(12))
    np.testing.assert_allclose(np.concatenate(pieces), whole, rtol=1e-11, atol=1e-12)


def test_a_causal_mask_hides_the_future():
    rng = np.random.default_rng(0)
    params, x = parameters(rng), rng.normal(size=(5, 6))
    before = multi_head_attention(x, params, 4, causal_mask(5))
    for t in range(5):
        moved = multi_head_attention(x + np.eye(5)[:, [t]], params, 4, causal_mask(5)) != before
        np.testing.assert_array_equal(moved.any(axis=1), np.arange(5) >= t)


def test_one_mask_for_each_of_a_batch():
    rng = np.random.default_rng(0)
    params, x = parameters(rng), rng.normal(size=(3, 5, 6))
    masks = rng.random((3, 5, 5)) < 0.5
    together = multi_head_attention(x, params, 4, masks)
    alone = [multi_head_attention(x[i], params, 4, masks[i]) for i in range(3)]
    np.testing.assert_allclose(together, np.stack(alone), rtol=1e-12, atol=1e-13)


def test_without_a_mask_the_order_of_the_context_does_not_matter():
    rng = np.random.default_rng(0)
    params, x, context = parameters(rng, context=3), rng.normal(size=(5, 6)), rng.normal(size=(4, 3))
    shuffled = multi_head_attention(x, params, 4, context=context[::-1])
    np.testing.assert_allclose(
        multi_head_attention(x, params, 4, context=context), shuffled, rtol=1e-12, atol=1e-13
    )


@settings(max_examples=10)
@given(calls(multi_head_attention, bound=3.0))
def test_without_a_context_x_is_the_context(call):
    arguments = call.arguments()
    if arguments[4] is None:
        np.testing.assert_array_equal(
            multi_head_attention(*arguments), multi_head_attention(*arguments[:4], arguments[0])
        )


def test_inside_a_function_with_a_line_too_x_is_the_context():
    @shaped("(..., T, E), Attention, H -> (..., T, E)")
    def read(x, params, heads):
        return multi_head_attention(x, params, heads)

    params, x = parameters(np.random.default_rng(0)), np.random.default_rng(1).normal(size=(5, 6))
    np.testing.assert_array_equal(read(x, params, 4), multi_head_attention(x, params, 4))


def broken(**fields):
    """Parameters of a legal call, some weights replaced, without a bias if none is given."""
    maps = {name: field if isinstance(field, Linear) else Linear(field) for name, field in fields.items()}
    return parameters(np.random.default_rng(0))._replace(**maps)


@pytest.mark.parametrize(
    "params, heads, mask, message",
    [
        (broken(), 3, None, "params.query.weight has H*D = 20, which H = 3 does not divide"),
        (
            broken(key=np.ones((6, 15)), value=np.ones((6, 15))),
            4,
            None,
            "heads = 4 must be a multiple of the key/value heads, G = 3",
        ),
        (
            broken(key=np.ones((6, 0)), value=np.ones((6, 0))),
            4,
            None,
            "heads = 4 must be a multiple of the key/value heads, G = 0",
        ),
        (
            broken(key=np.ones((6, 12))),
            4,
            None,
            "params.key.weight has G*D = 12, which D = 5 does not divide",
        ),
        (
            broken(value=np.ones((6, 20))),
            4,
            None,
            "params.value.weight has G*D = 20, but G = 2 in params.key.weight"
            " and D = 5 in params.query.weight:"
            " it must be 10",
        ),
        (
            broken(query=np.ones((6, 0))),
            4,
            None,
            "params.key.weight has G*D = 10, which D = 0 does not divide",
        ),
        (
            broken(key=np.ones((3, 10)), value=np.ones((3, 10))),
            4,
            None,
            "context has C = 6, params.key.weight has C = 3: they must be equal",
        ),
        (broken(), 4, np.ones((7, 9), dtype=bool), "context has S = 7, mask has S = 9: they must be equal"),
        (broken(), 4, np.ones((9, 7), dtype=bool), "mask has T = 9, x has T = 7: they must be equal"),
        (
            broken(output=Linear(np.ones((20, 6)), np.ones(5))),
            4,
            None,
            "params.output.bias has E = 5, x has E = 6: they must be equal",
        ),
    ],
)
def test_what_does_not_fit_is_named(params, heads, mask, message):
    with pytest.raises(ValueError) as caught:
        multi_head_attention(np.ones((7, 6)), params, heads, mask)
    assert str(caught.value) == f"multi_head_attention: {message}"


@on_both_engines
def test_a_mask_hides_a_nan_in_a_key_but_not_in_a_value(engine):
    rows, spoilt = np.random.default_rng(0).normal(size=(2, 3, 4))
    spoilt[2] = np.nan  # the causal mask hides it from the first two rows
    rows, spoilt = convert(rows, engine), convert(spoilt, engine)
    mask = causal_mask(3)
    assert np.isfinite(to_numpy(attention(rows, spoilt, rows, mask))[:2]).all()
    tensors = (torch.as_tensor(array)[None] for array in (rows, rows, spoilt, np.array(mask)))
    theirs = F.scaled_dot_product_attention(*tensors)
    assert np.isnan(to_numpy(attention(rows, rows, spoilt, mask))).all() and theirs.isnan().all()
