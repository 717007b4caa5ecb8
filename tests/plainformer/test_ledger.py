import copy
import pickle

import numpy as np
import pytest
import torch

from plainformer import gpt2
from plainformer.attention import Attention
from plainformer.ledger import parameter_ledger
from plainformer.linear import Linear
from plainformer.mlp import MLP
from plainformer.normalization import LayerNorm
from plainformer.training import leaves, trainable, trained


def small_gpt2(zeros=np.zeros):
    """GPT-2 small without its numbers."""

    def block():
        return gpt2.Block(
            LayerNorm(zeros(768), zeros(768)),
            Attention(*(Linear(zeros((768, 768)), zeros(768)) for _ in range(4))),
            LayerNorm(zeros(768), zeros(768)),
            MLP(Linear(zeros((768, 3072)), zeros(3072)), Linear(zeros((3072, 768)), zeros(768))),
        )

    embedding = zeros((50257, 768))
    return gpt2.GPT2(
        gpt2.Config(1024, 12, 1e-5),
        embedding,
        zeros((1024, 768)),
        tuple(block() for _ in range(12)),
        LayerNorm(zeros(768), zeros(768)),
    )


@pytest.mark.parametrize("zeros", [np.zeros, torch.zeros])
def test_gpt2_small(zeros):
    ledger = parameter_ledger(small_gpt2(zeros))
    assert sum(entry.count for entry in ledger) == 124_439_808
    assert ledger[0] == ("embedding", (50257, 768), 38_597_376, 38_597_376 / 124_439_808)
    assert [entry.name for entry in ledger[2:5]] == [
        "blocks.0.attention_norm.gain",
        "blocks.0.attention_norm.bias",
        "blocks.0.attention.query.weight",
    ]
    assert "head" not in [entry.name for entry in ledger]
    assert sum(entry.share for entry in ledger) == pytest.approx(1)


def test_an_untied_head_counts():
    model = small_gpt2()
    ledger = parameter_ledger(model._replace(head=model.embedding.T.copy()))
    assert sum(entry.count for entry in ledger) == 124_439_808 + 38_597_376
    assert ledger[-1].name == "head" and ledger[-1].shape == (768, 50257)
    view = parameter_ledger(model._replace(head=model.embedding.T))
    assert sum(entry.count for entry in view) == 124_439_808


def test_copies_keep_the_tie():
    model = gpt2.initialize(gpt2.Config(8, 2, 1e-5), 11, 12, 1, np.random.default_rng(0))
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), trained(trainable(model))):
        assert parameter_ledger(copied) == parameter_ledger(model)
        assert len(set(map(id, leaves(trainable(copied))))) == len(leaves(model))


def test_views_side_by_side_are_not_the_same_array():
    matrix = np.zeros((4, 12))
    ledger = parameter_ledger(Attention(*map(Linear, [*np.split(matrix, 3, axis=1), np.zeros((4, 4))])))
    assert [entry[:3] for entry in ledger] == [
        (f"{name}.weight", (4, 4), 16) for name in ("query", "key", "value", "output")
    ]


def test_blocks_in_a_list_count():
    model = small_gpt2()
    assert parameter_ledger(model._replace(blocks=list(model.blocks))) == parameter_ledger(model)


def test_what_is_no_nest_of_parameters_is_refused():
    with pytest.raises(
        TypeError, match="model must hold arrays, settings, None, and tuples or lists of them, got dict"
    ):
        parameter_ledger(MLP(Linear(np.ones((2, 3))), {"down": np.ones((3, 2))}))


def test_settings_do_not_count():
    assert (
        len(
            parameter_ledger(
                (gpt2.Config(8, np.int64(2), np.float64(1e-5)), "halves", True, None, np.ones(3))
            )
        )
        == 1
    )
