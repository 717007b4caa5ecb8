import numpy as np
import pytest
import torch
from shape_calls import ENGINES, to_numpy
from tiny_models import FAMILIES, tiny

from plainformer import gpt2, llama
from plainformer.cache import Kept, keep, length, next_positions
from plainformer.training import mapped

every_family = pytest.mark.parametrize("family", FAMILIES)
on_both_engines = pytest.mark.parametrize("engine", ENGINES)
IDS = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
TOLERANCE = {"float64": dict(rtol=1e-10, atol=1e-11), "float32": dict(rtol=0, atol=2e-4)}


def in_pieces(forward, model, ids, split):
    """The logits of all positions, read a piece at a time."""
    pieces, cache, start = [], None, 0
    for count in split:
        logits, cache = forward(ids[..., start : start + count], model, cache)
        pieces.append(to_numpy(logits))
        start += count
        assert length(cache[0]) == start
    return np.concatenate(pieces, axis=-2)


@every_family
@on_both_engines
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("split", [(1, 11), (5, 7), (11, 1), (1,) * 12, (3, 1, 1, 4, 2, 1)])
def test_every_split_equals_one_pass(family, engine, dtype, split):
    forward, model = FAMILIES[family].forward, tiny(family, engine, dtype)
    whole = to_numpy(forward(IDS, model)[0])
    assert whole.std() > 0.1
    np.testing.assert_allclose(in_pieces(forward, model, IDS, split), whole, **TOLERANCE[dtype])


@every_family
@on_both_engines
def test_a_batch_has_a_cache_too(family, engine):
    forward, model = FAMILIES[family].forward, tiny(family, engine)
    batch = np.stack([IDS, IDS[::-1], (IDS + 1) % 11])
    together = in_pieces(forward, model, batch, (4, 3, 1, 4))
    for row, logits in zip(batch, together):
        np.testing.assert_allclose(logits, to_numpy(forward(row, model)[0]), **TOLERANCE["float64"])


@every_family
@on_both_engines
def test_one_cache_can_go_on_in_several_ways(family, engine):
    """Continuations in turn, each a token at a time, and each of them forked again."""
    forward, model = FAMILIES[family].forward, tiny(family, engine)
    _, prompt = forward(IDS[:4], model)
    paths = {(): prompt}
    for _ in range(3):
        for path in [path for path in paths if len(path) < 3]:
            for token in (0, 7, 10):
                if (*path, token) not in paths:
                    logits, paths[*path, token] = forward([token], model, paths[path])
                    expected = forward([*IDS[:4], *path, token], model)[0][-1:]
                    np.testing.assert_allclose(to_numpy(logits), to_numpy(expected), **TOLERANCE["float64"])
    assert len(paths) == 1 + 3 + 9 + 27
    for path, cache in paths.items():  # whatever was written since, each still holds its own past
        assert length(cache[0]) == 4 + len(path)
        again = to_numpy(forward([5], model, cache)[0])
        expected = forward([*IDS[:4], *path, 5], model)[0][-1:]
        np.testing.assert_allclose(again, to_numpy(expected), **TOLERANCE["float64"])


@every_family
@on_both_engines
def test_the_same_prompt_twice_gives_the_same_logits(family, engine):
    forward, model = FAMILIES[family].forward, tiny(family, engine)
    first, cache = forward(IDS[:6], model)
    forward([1], model, cache)
    np.testing.assert_array_equal(to_numpy(forward(IDS[:6], model)[0]), to_numpy(first))


@every_family
def test_a_cache_that_failed_half_way_can_be_used_again(family):
    forward, model = FAMILIES[family].forward, tiny(family)
    _, cache = forward(IDS[:5], model)
    _, cache = forward(IDS[5:6], model, cache)  # now there is room behind the cache
    last = model.blocks[-1]
    broken = model._replace(
        blocks=(*model.blocks[:-1], last._replace(mlp=mapped(lambda array: array[:3], last.mlp)))
    )
    with pytest.raises(ValueError):
        forward([0], broken, cache)
    result = forward(IDS[6:7], model, cache)[0]
    np.testing.assert_allclose(result, forward(IDS[:7], model)[0][-1:], **TOLERANCE["float64"])


@every_family
@pytest.mark.parametrize("split", [(6, 1, 1, 1), (1, 1, 5), (3,)])
def test_positions_go_on_where_the_cache_ends(family, split, monkeypatch):
    module, seen = gpt2 if family == "gpt2" else llama, []

    def spy(*arguments):
        seen.append(next_positions(*arguments).tolist())
        return np.array(seen[-1])

    monkeypatch.setattr("plainformer.cache.next_positions", spy)
    in_pieces(module.forward, tiny(family), IDS[: sum(split)], split)
    starts = np.cumsum((0, *split[:-1]))
    assert seen == [list(range(start, start + count)) for start, count in zip(starts, split)]


def test_a_cache_gathers_no_gradients_where_none_are_asked_for():
    model = mapped(lambda tensor: tensor.requires_grad_(), tiny("gpt2", "torch"))
    with torch.no_grad():
        _, cache = FAMILIES["gpt2"].forward(IDS[:3], model)
        _, cache = FAMILIES["gpt2"].forward(IDS[3:4], model, cache)
    assert not any(kept.keys.requires_grad for kept in cache)


def lower(model, dtype, kept=()):
    """The model in another precision; norms, which are vectors, may keep theirs."""
    return mapped(lambda tensor: tensor if tensor.ndim in kept else tensor.to(dtype), model)


@every_family
@pytest.mark.parametrize(
    ("dtype", "kept"),
    [(torch.float16, ()), (torch.bfloat16, ()), (torch.bfloat16, (1,)), (torch.float64, (1,))],
    ids=str,
)
def test_half_and_mixed_precision_are_the_same_with_a_cache(family, dtype, kept):
    """Large rows: their sum of squares overflows where half precision is not computed in float32."""
    forward, model = FAMILIES[family].forward, lower(tiny(family, "torch", "float32"), dtype, kept)
    large = 0.1 if dtype == torch.float64 else 3000.0
    model = model._replace(embedding=model.embedding * large, head=model.embedding.T)
    whole = forward(IDS, model)[0].double().numpy()
    assert np.isfinite(whole).all() and whole.std() > 0.1
    steps, cache = [], None
    for token in IDS:
        logits, cache = forward([token], model, cache)
        steps.append(logits.double().numpy())
    np.testing.assert_allclose(np.concatenate(steps), whole, rtol=0, atol=0.05 * whole.std())


@every_family
def test_two_precisions_go_on_in_the_wider_one(family):
    forward, model = FAMILIES[family].forward, tiny(family, "torch", "float32")
    model = model._replace(
        blocks=tuple(block._replace(mlp=lower(block.mlp, torch.float64)) for block in model.blocks)
    )
    _, cache = forward(IDS[:5], model)
    np.testing.assert_allclose(
        forward(IDS[5:7], model, cache)[0], forward(IDS[:7], model)[0][5:], **TOLERANCE["float32"]
    )


@every_family
def test_gradients_flow_through_a_cache(family):
    forward, model = (
        FAMILIES[family].forward,
        mapped(lambda tensor: tensor.requires_grad_(), tiny(family, "torch")),
    )
    whole = torch.autograd.grad(forward(IDS[:5], model)[0].square().sum(), model.embedding)[0]
    total, cache = 0, None
    for ids in (IDS[:2], IDS[2:3], IDS[3:4], IDS[4:5]):
        logits, cache = forward(ids, model, cache)
        total = total + logits.square().sum()
    np.testing.assert_allclose(torch.autograd.grad(total, model.embedding)[0], whole, rtol=1e-9, atol=1e-12)


@every_family
def test_gradients_flow_where_only_some_weights_are_trained(family):
    """As with low-rank adapters: the query alone asks for gradients, and the keys that were kept do not."""
    forward, model = FAMILIES[family].forward, tiny(family, "torch")
    query = model.blocks[0].attention.query.weight.requires_grad_()
    expected = torch.autograd.grad(forward(IDS[:5], model)[0].square().sum(), query)[0]
    total, cache = 0, None
    for token in IDS[:5]:
        logits, cache = forward([token], model, cache)
        total = total + logits.square().sum()
    np.testing.assert_allclose(torch.autograd.grad(total, query)[0], expected, rtol=1e-9, atol=1e-12)


@every_family
def test_a_cache_made_in_inference_mode_serves_outside(family):
    forward, model = FAMILIES[family].forward, tiny(family, "torch")
    with torch.inference_mode():
        cache = forward(IDS[:4], model)[1]
    np.testing.assert_allclose(forward(IDS[4:6], model, cache)[0], forward(IDS[:6], model)[0][4:], rtol=1e-9)


@every_family
def test_a_cache_of_another_model_or_batch_is_refused(family):
    forward, model = FAMILIES[family].forward, tiny(family)
    _, cache = forward([[1, 2]], model)
    with pytest.raises(
        ValueError, match=r"cache: it holds keys .* \(1, .*\(2, .* by another model or batch\?"
    ):
        forward([[3], [4]], model, cache)
    with pytest.raises(TypeError, match="block: past.keys is ndarray, x is Tensor: use one engine for both"):
        forward([[3]], tiny(family, "torch"), cache)
    widened = tuple(Kept(*(array.repeat(2, axis=-1) for array in kept)) for kept in cache)
    with pytest.raises(
        ValueError,
        match=r"block: params.attention.query.weight has H\*D = \d+, but .* D = \d+ in past.keys: ",
    ):
        forward([[3]], model, widened)
    shorter = model._replace(blocks=model.blocks[:-1])
    with pytest.raises(
        ValueError, match=r"forward: cache has (3|2) layers, the model (2|1): they must be equal"
    ):
        forward([[3]], shorter, cache)
    with pytest.raises(TypeError, match=r"forward: cache must be what forward returned, or None, got tuple"):
        forward([[3]], model, forward([[1, 2]], model))


def test_another_kind_of_model_is_refused():
    for name, kind, other in (("gpt2", "GPT2", "llama"), ("llama", "Llama", "gpt2")):
        with pytest.raises(
            TypeError, match=rf"{name}.forward: model must be {kind}\(...\), got {type(tiny(other)).__name__}"
        ):
            FAMILIES[name].forward([1], tiny(other))
        with pytest.raises(TypeError, match=r"got list"):
            FAMILIES[name].forward(tiny(name), [1])
        with pytest.raises(
            ValueError,
            match=(
                rf"{name}.forward: ids must be whole numbers in rows of one length, got \[\[1, 2\], \[3\]\]"
            ),
        ):
            FAMILIES[name].forward([[1, 2], [3]], tiny(name))


@every_family
def test_a_model_without_heads_or_blocks_is_refused(family):
    forward, model = FAMILIES[family].forward, tiny(family)
    for heads in (0, 2.0, None):
        with pytest.raises(
            ValueError, match=rf"block: config.heads must be a whole number of at least 1, got {heads}"
        ):
            forward([1], model._replace(config=model.config._replace(heads=heads)))
    with pytest.raises(
        ValueError, match="forward: the count of blocks must be a whole number of at least 1, got 0"
    ):
        forward([1], model._replace(blocks=()))


def test_a_wrong_pairing_is_refused():
    model = tiny("llama")
    for pairing in ("neighbors", None, np.array(["halves"])):
        with pytest.raises(ValueError, match='pairing must be "neighbours" or "halves"'):
            llama.forward([1], model._replace(config=model.config._replace(pairing=pairing)))


# The parts


def test_keep_leaves_what_it_was_given_alone():
    keys = np.arange(6.0).reshape(1, 3, 2)
    kept = keep(None, keys, keys)
    longer = keep(kept, keys[:, :1] + 9, keys[:, :1])
    np.testing.assert_array_equal(longer.keys[0, :, 0], [0, 2, 4, 9])
    np.testing.assert_array_equal(kept.keys[0, :, 0], [0, 2, 4])


def test_positions_after_a_cache():
    np.testing.assert_array_equal(next_positions("f", [5, 6, 7], 0, 8), [0, 1, 2])
    np.testing.assert_array_equal(next_positions("f", [[5, 6]], 6, 8), [6, 7])


@every_family
@pytest.mark.parametrize("empty", [[], np.zeros((2, 0), dtype=int), 3, None])
def test_no_ids_are_refused(family, empty):
    with pytest.raises(ValueError, match=r"forward: ids must hold at least one token, got shape \(.*\)"):
        FAMILIES[family].forward(empty, tiny(family))


@every_family
@on_both_engines
@pytest.mark.parametrize("read, more, total", [(0, 9, 9), (6, 3, 9), (8, 1, 9), (7, 5, 12)])
def test_more_tokens_than_the_context_are_refused(family, engine, read, more, total):
    forward, model = FAMILIES[family].forward, tiny(family, engine, context=8)
    cache = forward(IDS[:read], model)[1] if read else None
    with pytest.raises(ValueError, match=f"forward: {total} tokens do not fit into the model's context of 8"):
        forward(IDS[:more], model, cache)
