"""The explorables' Python side: what they store, what they refuse, and that their still pictures tell the
truth.
"""

import html
import itertools
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import traitlets
from explorable_kinds import KINDS

from plaincourse import explorables
from plaincourse.counting import cache_bytes, work
from plaincourse.explorables import reach
from plaincourse.explorables.parameters import SIZES
from plainformer import gpt2
from plainformer.activations import gelu, gelu_tanh, relu, sigmoid, silu
from plainformer.attention import Attention, attention, attention_weights, causal_mask, multi_head_attention
from plainformer.ledger import parameter_ledger
from plainformer.linear import Linear, linear
from plainformer.networks import RNN, conv2d, rnn
from plainformer.normalization import layer_norm, rms_norm
from plainformer.positions import rope
from plainformer.sampling import probabilities

HOSTILE = """</div><script>alert("&amp;'")</script><img src=x onerror='alert(1)'>"""


def stored(explorable):
    """What a notebook keeps of an explorable: everything but the live widget's view."""
    data, _ = explorable._repr_mimebundle_()
    return {kind: text for kind, text in data.items() if "widget-view" not in kind}


def stored_state(explorable):
    [state] = re.findall(r"data-state='([^']*)'", explorable.placeholder())
    return state


def picture_texts(explorable):
    return [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", explorable.still())]


@pytest.mark.parametrize("kind", KINDS)
def test_two_constructions_store_the_same_bundle(kind):
    first, second = kind(), kind()
    assert first.model_id != second.model_id
    assert stored(first) == stored(second)
    assert set(stored(first)) == {"text/plain", "text/html"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_live_widget_and_its_placeholder_travel_together(kind):
    data, _ = kind()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "export default" in kind()._esm and "function element" in kind()._esm


@pytest.mark.parametrize("kind", KINDS)
def test_the_state_is_the_declared_traits_and_survives_json(kind):
    explorable = kind()
    assert json.loads(stored_state(explorable)) == explorable.state()
    assert not [name for name in explorable.state() if name.startswith("_") or name in ("layout", "tooltip")]


def test_hostile_text_stays_text():
    explorable = explorables.Sampling(words=[HOSTILE] * 12, prompt=HOSTILE)
    state = stored_state(explorable)
    assert not set("<>&'") & set(state)
    assert json.loads(state)["prompt"] == HOSTILE
    assert set(re.findall(r"<(\w+)", explorable.placeholder())) == {"div", "svg", "text", "rect"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_still_picture_has_a_sentence_for_those_who_do_not_see_it(kind):
    [label] = re.findall(r'role="img" aria-label="([^"]*)"', kind().still())
    assert html.unescape(label) == kind().sentence()
    assert label.endswith(".") and len(label.split()) > 8


def test_the_matmul_picture_shows_the_library_s_numbers():
    explorable = explorables.Matmul(x=[0.5, -3, 1, 2], column=6)
    z = linear(np.array(explorable.x), np.array(explorable.weight))
    assert picture_texts(explorable)[-8:] == [f"{value:g}".replace("-", "−") for value in z]
    assert explorable.sentence().endswith(f"= {z[6]:g}.".replace("-", "−"))


def test_the_default_weight_gives_the_document_s_eight_outputs():
    np.testing.assert_array_equal(explorables.Matmul().outputs(), [-2, 1, 0.5, -1, 3, 0, -0.5, 2])
    assert np.linalg.matrix_rank(explorables.WEIGHT) == 4


def test_the_default_gates_are_the_document_s_after_silu():
    explorable = explorables.Gate()
    np.testing.assert_allclose(explorable.gates(), [0.1, 1.5, 0, 2], atol=1e-12)
    np.testing.assert_allclose(explorable.products(), [0.2, -1.5, 0, 1], atol=1e-12)
    np.testing.assert_allclose(
        silu(np.array(explorable.gate)) * np.array(explorable.up), explorable.products(), atol=0
    )


def test_the_gate_s_curves_are_the_library_s():
    assert explorables.gate.CURVES == {
        "relu": relu,
        "silu": silu,
        "gelu": gelu,
        "gelu_tanh": gelu_tanh,
        "sigmoid": sigmoid,
    }


def test_the_gate_picture_names_the_curves_that_it_draws():
    explorable = explorables.Gate(curves=["relu", "gelu_tanh"])
    assert picture_texts(explorable)[:2] == ["ReLU", "GELU tanh"]
    assert explorable.sentence().startswith("Curves: ReLU, GELU tanh. Four gates")
    assert explorables.Gate(curves=[]).sentence().startswith("Four gates")


def test_the_default_query_of_ate_gives_the_document_s_weights_and_the_chapter_s_mix():
    explorable = explorables.Attention()
    np.testing.assert_allclose(explorable.weights(), [0.36, 0.44, 0.12, 0.08], atol=0.005)
    np.testing.assert_allclose(explorable.mix(), [0.76, 1.08], atol=0.005)
    assert picture_texts(explorable)[-2:] == ["sum 1.00", "[0.76, 1.08]"]
    assert [text for text in picture_texts(explorable) if re.fullmatch(r"0\.\d\d", text)] == [
        "0.36",
        "0.44",
        "0.12",
        "0.08",
    ]


@pytest.mark.parametrize("asking", range(4))
def test_the_attention_s_rows_are_those_of_the_library(asking):
    explorable = explorables.Attention(asking=asking, causal=True)
    query, key, value = (np.array(rows) for rows in (explorable.query, explorable.key, explorable.value))
    np.testing.assert_allclose(explorable.weights(), attention_weights(query, key, causal_mask(4))[asking])
    np.testing.assert_allclose(explorable.mix(), attention(query, key, value, causal_mask(4))[asking])


def test_attention_without_the_division_is_a_softmax_of_the_scores():
    explorable = explorables.Attention(scaled=False)
    powers = np.exp(explorable.scores())
    np.testing.assert_allclose(explorable.weights(), powers / powers.sum(), atol=1e-15)
    assert explorable.weights().max() > explorables.Attention().weights().max()


def test_the_picture_from_inside_shows_the_recording():
    explorable = explorables.Inside(word=3, after=26, head=4)
    assert explorable.weights().tolist() == [0.02, 0.02, 0.95, 0.01, 0]
    assert (explorable.says(), explorable.others(), explorable.final()) == ([("“ to”", 100)], 0, "“ to”")
    assert picture_texts(explorable) == [
        "Block 25, head 4: “users” reads",
        "Data", "0.02", "visualization", "0.02", "empowers", "0.95", "users", "0.01", "to", "",
        "After 26 blocks, the stream says", "“ to”", "100 %", "all others", "0 %",
    ]  # fmt: skip
    assert (
        explorable.sentence()
        == "Block 25, head 4: “users” reads: Data 0.02, visualization 0.02, empowers 0.95, users 0.01. "
        "After 26 blocks, the stream says: “ to” 100 %, all others 0 %."
    )


def test_before_any_block_nothing_has_been_read():
    explorable = explorables.Inside(after=0)
    assert explorable.weights().tolist() == [0] * 5
    assert explorable.sentence().startswith(
        "No block has run: nothing read. Before any block, the stream says: “ to” 100 %"
    )
    assert not [text for text in picture_texts(explorable) if re.fullmatch(r"\d\.\d\d", text)]


def test_the_word_that_ends_up_first_is_at_place_1_after_the_last_block():
    for word in range(5):
        explorable = explorables.Inside(word=word)
        assert explorable.places()[-1] == 1 and explorable.places().shape == (31,)
        assert explorable.final() == explorable.says()[0][0]


def test_hostile_tokens_stay_text():
    recording = explorables.Inside().recording
    recording["prompt"] = [HOSTILE] * 5
    explorable = explorables.Inside(recording=recording)
    assert not set("<>&'") & set(stored_state(explorable))
    assert set(re.findall(r"<(\w+)", explorable.placeholder())) == {"div", "svg", "text", "rect"}
    assert explorables.Inside().recording["prompt"][0] == "Data"


def test_the_normalization_picture_shows_the_library_s_numbers():
    explorable = explorables.Normalization(x=[1, 2, -0.5, 1.5], scale=2, shift=5)
    row = np.array([7.0, 9.0, 4.0, 8.0])
    expected = [row, layer_norm(row, np.ones(4), np.zeros(4)), rms_norm(row, np.ones(4))]
    shown = [
        float(text.replace("−", "-")) for text in picture_texts(explorable) if re.fullmatch(r"−?[\d.]+", text)
    ]
    np.testing.assert_allclose(np.reshape(shown, (3, 4)), expected, atol=0.00501)


def test_a_flat_row_is_zeros_after_layer_norm():
    explorable = explorables.Normalization(x=[7, 7, 7, 7])
    assert explorable.layer_norm().tolist() == [0, 0, 0, 0]
    assert (
        explorable.sentence()
        == "The row 7, 7, 7, 7 becomes 0, 0, 0, 0 after LayerNorm and 1, 1, 1, 1 after RMSNorm."
    )


@pytest.mark.parametrize(
    "size, total",
    [("small", 124_439_808), ("medium", 354_823_168), ("large", 774_030_080), ("XL", 1_557_611_200)],
)
def test_the_published_sizes_of_gpt2_have_the_published_totals(size, total):
    explorable = explorables.Parameters(**SIZES[size])
    assert sum(explorable.counts().values()) == total
    assert (
        f"has {total:,} parameters" in explorable.sentence() and picture_texts(explorable)[-1] == f"{total:,}"
    )


@pytest.mark.parametrize("width, layers, vocabulary, context", [(3, 1, 11, 8), (8, 3, 5, 16), (24, 2, 7, 2)])
def test_the_parts_add_up_to_the_ledger_of_a_model_that_really_has_its_tables(
    width, layers, vocabulary, context
):
    config = gpt2.Config(context, heads=1, eps=1e-5)
    real = parameter_ledger(gpt2.initialize(config, vocabulary, width, layers, rng=np.random.default_rng(0)))
    explorable = explorables.Parameters(
        width=width, layers=layers, vocabulary=vocabulary, context=context, heads=1
    )
    made = parameter_ledger(explorable.model())
    assert made == real
    assert sum(explorable.counts().values()) == sum(entry.count for entry in real)


def test_every_table_of_the_ledger_belongs_to_one_part():
    names = [entry.name for entry in parameter_ledger(explorables.Parameters(layers=2).model())]
    marks = explorables.parameters.PARTS.values()
    assert [sum(mark in name for mark in marks) for name in names] == [1] * len(names)
    assert not [name for name in names if name.startswith("head")]  # tied: counted once, with the embedding


def test_the_multiple_is_the_mlp_s_and_heads_change_nothing():
    start = explorables.Parameters().counts()
    wide = explorables.Parameters(multiple=8).counts()
    assert [part for part in start if wide[part] != start[part]] == ["MLP"]
    assert wide["MLP"] == 12 * (2 * 768 * 6144 + 6144 + 768)
    assert [explorables.Parameters(heads=heads).counts() for heads in (1, 24, 64)] == [start] * 3


@pytest.mark.parametrize("T, paths", [(8, [8, 4, 1]), (16, [16, 8, 1])])
def test_reach_gives_the_paths_of_the_chapter_s_table(T, paths):
    assert explorables.Reach(asking=T, asked=1).paths() == paths


@pytest.mark.parametrize("width", range(2, 9))
def test_reach_measures_what_distance_and_width_say(width):
    for asking, asked in itertools.product(range(1, 17), repeat=2):
        back = asking - asked
        expected = [back + 1, math.ceil(back / (width - 1))] if back >= 0 else [math.inf, math.inf]
        assert [reach.path(form, asking, asked, width) for form in reach.FORMS] == [*expected, int(back != 0)]


def test_reach_with_one_layer_more_knows_of_the_words_that_the_filter_adds():
    known = [explorables.Reach(asking=15, width=4, layers=layers).known()[1] for layers in (1, 2, 3)]
    assert [row.nonzero()[0].tolist() for row in known] == [list(range(first, 15)) for first in (11, 8, 5)]
    assert explorables.Reach(asking=3).known().sum(axis=1).tolist() == [3, 3, 16]


def waiting(node, seen):
    """The most products of tables on one way back from a result of PyTorch."""
    if node is not None and node not in seen:
        product = node.name() in ("MmBackward0", "BmmBackward0")
        seen[node] = product + max((waiting(before, seen) for before, _ in node.next_functions), default=0)
    return seen.get(node, 0)


def test_reach_s_chains_are_those_that_pytorch_records():
    """For the row of word 15: of an RNN, of a CNN with four layers, and of attention, each with tables of 2
    by 2.
    """
    explorable = explorables.Reach()
    x, table, conv = (torch.ones(shape, requires_grad=True) for shape in [(16, 2), (2, 2), (3, 1, 2, 2)])
    convolved = x
    for _ in range(explorable.layers):
        convolved = conv2d(torch.cat([torch.zeros(2, 2), convolved])[:, None], conv)[:, 0]
    last = rnn(x[: explorable.asking], torch.zeros(2), RNN(table, table, x[0]))[-1]
    results = [last, convolved, multi_head_attention(x, Attention(*[Linear(table)] * 4), heads=1)]
    assert [waiting(result.grad_fn, {}) for result in results] == explorable.chains() == [15, 4, 4]


@pytest.mark.parametrize(
    "settings, says",
    [
        ({}, "the RNN takes 14 steps, the CNN would need 7 layers and has 4, attention takes 1 step."),
        ({"layers": 7}, "the RNN takes 14 steps, the CNN takes 7 of its 7 layers, attention takes 1 step."),
        ({"asking": 1}, "RNN and CNN only look back and never reach it. Attention takes 1 step."),
        ({"asking": 2}, "it is there from the start. Only the RNN takes a step, to read it."),
    ],
)
def test_reach_says_what_it_takes(settings, says):
    explorable = explorables.Reach(**settings)
    assert explorable.sentence().endswith(says)
    shown = [text for text in picture_texts(explorable) if text.startswith("path")]
    assert shown == [f"path {'never' if length == math.inf else length}" for length in explorable.paths()]
    assert explorable.still().count("--plain-accent") == explorable.known().sum()
    assert explorable.still().count('stroke="currentColor"') == 3 * len({explorable.asking, explorable.asked})


@pytest.mark.parametrize("pairing", ["neighbours", "halves"])
def test_rope_s_dot_product_is_the_library_s_and_stands_on_the_curve(pairing):
    explorable = explorables.Rope(query_position=3, key_position=12, base=10_000, pairing=pairing)
    query, key = np.array([explorable.query]), np.array([explorable.key])
    expected = (rope(query, [3], pairing=pairing) @ rope(key, [12], pairing=pairing).T).item()
    assert explorable.dot() == pytest.approx(expected, abs=1e-12)
    assert explorable.dots()[explorables.rope.FARTHEST - 9] == pytest.approx(expected, abs=1e-12)
    assert f"q · k = {expected:.2f}".replace("-", "−").rstrip("0") in picture_texts(explorable)[0]


def test_rope_starts_where_its_query_and_key_fit_best():
    explorable = explorables.Rope()
    assert (
        explorable.dots().argmax() - explorables.rope.FARTHEST
        == explorable.query_position - explorable.key_position
        == 6
    )


@pytest.mark.parametrize("w", [-2, -1, 0, 0.5, 3, 5.5])
def test_the_descent_s_slope_is_autograd_s_of_the_library_s_loss(w):
    table = torch.tensor([[w, 0.0]], dtype=torch.float64, requires_grad=True)
    loss = explorables.descent.loss_of(table)
    loss.backward()
    explorable = explorables.Descent()
    assert explorable.loss(w) == pytest.approx(loss.item(), abs=1e-14)
    assert explorable.slope(w) == pytest.approx(table.grad[0, 0].item(), abs=1e-14)
    p = explorable.probability(w)
    assert explorable.loss(w) == pytest.approx(-0.75 * np.log(p) - 0.25 * np.log(1 - p), abs=1e-10)


def test_the_descent_s_path_is_that_of_pytorch_s_optimizer():
    table = torch.tensor([[-1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([table], lr=0.5)
    path = []
    for _ in range(8):
        path.append(table[0, 0].item())
        optimizer.zero_grad()
        explorables.descent.loss_of(table).backward()
        table.grad[0, 1] = 0  # one weight learns; the other is 0 and stays 0
        optimizer.step()
    np.testing.assert_allclose(explorables.Descent(steps=6).path(), path, atol=1e-14)


def test_the_descent_never_leaves_its_picture():
    """The walk stays between -2.5 and 6 and below a loss of 3.2, whatever the settings: that is where the
    axes end.
    """
    for start in np.linspace(-2, 2, 17):
        for rate in [0.1, *np.arange(0.5, 5.1, 0.5)]:
            explorable = explorables.Descent(start=start, rate=rate, steps=20)
            path = explorable.path()
            assert -2.5 < path.min() and path.max() < 6
            assert max(map(explorable.loss, [path.min(), path.max()])) < 3.2


@pytest.mark.parametrize(
    "rate, ends", [(0.1, "far"), (1, "there"), (2, "there"), (3, "swings"), (5, "jumps")]
)
def test_the_descent_s_learning_rate_is_too_small_right_or_too_large(rate, ends):
    explorable = explorables.Descent(rate=rate, steps=20)
    losses = np.array([explorable.loss(w) for w in explorable.path()[:-1]])
    lowest = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert losses.min() >= lowest - 1e-12
    assert (np.diff(losses) < 1e-14).all() == (rate <= 2)
    assert (np.diff(explorable.path()[:5]) > 0).all() == (
        rate <= 1
    )  # with 2, the weight runs past and comes back
    assert (losses[-1] - lowest < 1e-4) == (ends == "there")
    assert (losses.max() > losses[0]) == (ends == "jumps")
    if ends == "swings":
        np.testing.assert_allclose(explorable.path()[-4:-2], explorable.path()[-2:], atol=1e-3)


def test_the_descent_picture_shows_the_library_s_numbers():
    explorable = explorables.Descent(rate=2, steps=3)
    w = explorable.path()[-2]
    expected = [w, explorables.descent.loss_of(np.array([[w, 0]])), 2 * (1 / (1 + np.exp(-2 * w)) - 0.75)]
    [facts] = [text for text in picture_texts(explorable) if text.startswith("w = ")]
    np.testing.assert_allclose(
        [float(one.replace("−", "-")) for one in re.findall(r"−?[\d.]+", facts)], expected, atol=0.000501
    )
    assert len(re.findall("<circle", explorable.still())) == 6


def test_the_sampling_picture_shows_the_library_s_percentages():
    explorable = explorables.Sampling()
    p = probabilities(np.array(explorable.logits), 0.8, top_k=5)
    shown = [text for text in picture_texts(explorable) if text.endswith("%")]
    assert (
        shown
        == [f"{100 * share:.2f} %" for share in p[:5]]
        == ["54.67 %", "20.87 %", "12.09 %", "6.26 %", "6.11 %"]
    )


@pytest.mark.parametrize(
    "temperature, first",
    [
        (0.8, [29.388, 11.218, 6.499, 3.363, 3.284, 3.057, 2.837, 2.038]),
        (1.0, [15.784, 7.305, 4.720, 2.787, 2.734, 2.582, 2.432, 1.866]),
        (2.0, [1.309, 0.890, 0.716, 0.550, 0.545, 0.529, 0.514, 0.450]),
    ],
)
def test_without_top_k_the_rest_of_the_vocabulary_has_its_share(temperature, first):
    shares = explorables.Sampling(temperature=temperature, top_k=None).shares()
    np.testing.assert_allclose(100 * shares[:8], first, atol=0.0005)
    assert shares.sum() == pytest.approx(1, abs=1e-12)


def test_top_p_on_the_whole_distribution_keeps_four_words_at_the_document_s_temperature():
    assert np.count_nonzero(explorables.Sampling(top_k=None, top_p=0.5).shares()) == 4


def test_a_nucleus_beyond_the_twelve_words_is_not_invented():
    explorable = explorables.Sampling(temperature=1, top_k=None, top_p=0.5)
    assert explorable.shares() is None
    assert "not known" in explorable.sentence()


def test_caching_counts_every_step_of_the_loop():
    explorable = explorables.Caching(prompt=6, token=4)
    assert explorable.multiply_adds(True).tolist() == [work(6, 6), work(1, 7), work(1, 8), work(1, 9)]
    assert explorable.multiply_adds(False).tolist() == [work(s, s) for s in (6, 7, 8, 9)]
    assert explorable.bytes() == cache_bytes(12, 12, 9, 64)


@pytest.mark.parametrize(
    "settings, says",
    [
        ({"token": 1}, "without, as many. A cache of 6 positions"),
        ({"token": 10}, "without, 11 times as many. A cache of 15 positions"),
        ({"token": 100}, "without, 73 times as many. A cache of 105 positions"),
        (
            {"prompt": 512, "token": 513},
            "without, 747 times as many. A cache of 1,024 positions holds 75,497,472 bytes.",
        ),
    ],
)
def test_caching_says_how_much_the_cache_saves(settings, says):
    assert says in explorables.Caching(**settings).sentence()


@pytest.mark.parametrize(
    "cached, above", [(True, "not computed again"), (False, "computed again for nothing")]
)
def test_the_caching_picture_shows_the_counts(cached, above):
    texts = picture_texts(explorables.Caching(cached=cached))
    assert texts[:2] == ["query × key, 11 by 11", f"Last row: this step. Above: {above}."]
    assert texts[3:5] == [
        f"This step, with the cache: {work(1, 11):,} multiply–adds",
        f"This step, without: {work(11, 11):,}",
    ]
    assert texts[6] == f"All steps, without: {sum(work(s, s) for s in range(6, 12)):,}"
    assert picture_texts(explorables.Caching(cached=cached, token=1))[1] == "All pairs: this step."


@pytest.mark.parametrize(
    "kind, settings, says",
    [
        (explorables.Matmul, {"x": [1, 2]}, r"x must be numbers of shape \(4,\).*got shape \(2,\)"),
        (explorables.Matmul, {"x": "four"}, "x must be numbers.*got 'four'"),
        (explorables.Matmul, {"x": [1, 2, np.nan, 0]}, "x must be.*nan"),
        (explorables.Matmul, {"x": [1, 2, 9, 0]}, "x must be.*from -3 to 3.*9"),
        (explorables.Matmul, {"x": [10**400, 0, 0, 0]}, "x must be numbers"),
        (explorables.Matmul, {"x": torch.ones(4, requires_grad=True)}, "x must be numbers"),
        (explorables.Matmul, {"weight": np.ones((8, 4))}, r"weight must be.*\(4, 8\).*got shape \(8, 4\)"),
        *[
            (explorables.Matmul, {"x": x}, r"x must be numbers of shape \(4,\) from -3 to 3, got")
            for x in (
                ["1", "2", "0", "1"],
                [b"1"] * 4,
                [True] * 4,
                [1j] * 4,
                np.ma.masked_equal([1, 2, 0, 1], 0),
                [None] * 4,
            )
        ],
        *[
            (explorables.Gate, {"z": z}, "Gate: z must be a number from -5 to 5, got")
            for z in ("1", b"1", np.True_, np.ma.masked, 1 + 0j, np.array("1"))
        ],
        (explorables.Matmul, {"column": 8}, "column.*8"),
        (explorables.Matmul, {"column": True}, "column must be a whole number from 0 to 7, got True"),
        (explorables.Matmul, {"column": 2.5}, "column must be a whole number from 0 to 7, got 2.5"),
        (explorables.Rope, {"base": np.array([100, 10_000])}, "base.*100"),
        (explorables.Rope, {"base": "100"}, "base.*'100'"),
        (explorables.Gate, {"z": 6}, "z must be a number from -5 to 5, got 6"),
        (explorables.Gate, {"gate": [0, 0, 0, 4]}, "gate must be"),
        (explorables.Gate, {"curves": ["tanh"]}, "curves.*relu.*tanh"),
        (
            explorables.Attention,
            {"query": [1, 2]},
            r"query must be numbers of shape \(4, 2\).*got shape \(2,\)",
        ),
        (explorables.Attention, {"asking": 4}, "asking.*4"),
        (explorables.Attention, {"causal": 2}, "causal.*2"),
        (explorables.Attention, {"words": [["cat"]] * 4}, "words.*length 2"),
        (explorables.Inside, {"word": 5}, "word must be from 0 to 4, got 5"),
        (explorables.Inside, {"after": 31}, "after must be from 0 to 30, got 31"),
        (explorables.Inside, {"head": 9}, "head must be from 0 to 8, got 9"),
        (explorables.Inside, {"word": -1}, "word.*-1"),
        (
            explorables.Inside,
            {"recording": {"prompt": ["a", "b"]}},
            "recording must be what plaincourse.recording.record gives",
        ),
        (explorables.Normalization, {"x": [1, 2, 3]}, r"x must be numbers of shape \(4,\).*got shape \(3,\)"),
        (explorables.Normalization, {"scale": 0}, "scale must be a number from 0.001 to 100"),
        (explorables.Normalization, {"shift": np.inf}, "shift must be.*inf"),
        (explorables.Parameters, {"heads": 5}, "heads must divide the width 768, got 5"),
        (explorables.Parameters, {"width": 100}, "heads must divide the width 100, got 12"),
        (explorables.Parameters, {"width": 8192}, "width.*8192"),
        (explorables.Parameters, {"layers": 0}, "layers.*0"),
        (explorables.Parameters, {"vocabulary": 1.5}, "vocabulary.*1.5"),
        (explorables.Reach, {"asking": 0}, "asking.*0"),
        (explorables.Reach, {"asked": 17}, "asked.*17"),
        (explorables.Reach, {"width": 1}, "width.*1"),
        (explorables.Reach, {"layers": 9}, "layers.*9"),
        (explorables.Reach, {"words": ["cat"] * 15}, "words.*16"),
        (explorables.Rope, {"query": [1, 2]}, r"query must be numbers of shape \(4,\).*got shape \(2,\)"),
        (explorables.Rope, {"key_position": 41}, "key_position.*41"),
        (explorables.Rope, {"base": 10}, "base.*10"),
        (explorables.Rope, {"pairing": "thirds"}, "pairing.*thirds"),
        (explorables.Caching, {"prompt": 0}, "prompt.*0"),
        (explorables.Caching, {"token": 514}, "token.*514"),
        (explorables.Caching, {"cached": "yes"}, "cached.*yes"),
        (explorables.Descent, {"start": 3}, "start must be a number from -2 to 2, got 3"),
        (explorables.Descent, {"rate": 0}, "rate must be a number from 0.1 to 5, got 0"),
        (explorables.Descent, {"steps": 21}, "steps.*21"),
        (explorables.Sampling, {"temperature": -1}, "temperature must be"),
        (explorables.Sampling, {"temperature": True}, "temperature must be.*True"),
        (
            explorables.Sampling,
            {"temperature": 0.5, "top_k": None},
            "temperature must be one of.*without top_k, got 0.5",
        ),
        (explorables.Sampling, {"top_k": 0}, "top_k.*0"),
        (explorables.Sampling, {"top_p": 2}, "top_p.*2"),
        (explorables.Sampling, {"top_p": np.nan}, "top_p.*nan"),
        (explorables.Sampling, {"others": 10**12}, "others.*1000000000000"),
        (explorables.Sampling, {"logits": [1000] * 12}, "log_sum_exp must hold"),
        (explorables.Sampling, {"words": ["one"]}, "words.*12"),
        (explorables.Sampling, {"logits": [0] * 12}, "log_sum_exp must hold"),
        (
            explorables.Sampling,
            {"log_sum_exp": [[0.8, -168.66687], [0.8, -160], [2, -63.6205]]},
            "log_sum_exp must hold different temperatures, got 0.8 twice",
        ),
    ],
)
def test_bad_settings_are_refused_with_what_came_and_what_was_expected(kind, settings, says):
    with pytest.raises(traitlets.TraitError, match=says), np.errstate(all="raise"):
        kind(**settings)


def test_a_bad_value_leaves_a_living_explorable_as_it_was():
    explorable = explorables.Sampling()
    with pytest.raises(traitlets.TraitError):
        explorable.temperature = 3
    assert explorable.temperature == 0.8


def test_a_misspelt_setting_is_named():
    with pytest.raises(TypeError, match="no setting is called colum; there are column, weight, x"):
        explorables.Matmul(colum=1)


def test_arrays_are_taken_and_kept_as_plain_lists():
    assert explorables.Matmul(x=np.array([1, 2, -1, 0])).x == [1.0, 2.0, -1.0, 0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_numpy_are_kept_as_python_s(kind):
    """Whatever NumPy's form of a setting is, the placeholder carries the same bytes; and no truth value is a
    whole number.
    """
    plain = kind()
    wholes = {
        name: value
        for name, value in plain.state().items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    assert stored(kind(**{name: np.array(value)[()] for name, value in wholes.items()})) == stored(plain)
    for name in wholes:
        for truth in (True, False, np.True_):
            with pytest.raises(traitlets.TraitError, match=f"{name}.*{truth!r}"):
                kind(**{name: truth})


def test_a_choice_is_kept_as_it_is_listed():
    for base in (np.int64(100), 100.0, np.float32(100)):
        assert type(explorables.Rope(base=base).base) is int


def test_every_explorable_ships_its_files():
    folder = Path(explorables.__file__).parent
    for name in (
        "kit.js",
        "loader.js",
        "explorable.css",
        "inside.json",
        *(f"{kind.module}.js" for kind in KINDS),
    ):
        assert (folder / name).read_text(encoding="utf-8").strip()


def test_the_book_s_extension_needs_no_widget_library():
    code = (
        "import sys, plaincourse.book.explorables as e; e.output_files();print([m for m in ('anywidget',"
        " 'ipywidgets', 'matplotlib', 'torch', 'plaincourse.explorables') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_change_in_the_browser_reaches_the_kernel():
    """What the modules send with save_changes arrives as one message; settings that depend on each other come
    together.
    """
    explorable = explorables.Sampling(temperature=0.5)
    explorable.set_state({"temperature": 0.8, "top_k": None})
    assert (explorable.temperature, explorable.top_k) == (0.8, None)
    explorable = explorables.Parameters()
    explorable.set_state({"width": 1600, "heads": 25})
    assert (explorable.width, explorable.heads) == (1600, 25)
    explorable = explorables.Matmul()
    explorable.set_state({"x": [0, 0, 0, 1], "column": 4})
    assert explorable.products().tolist() == [0, 0, 0, -1]
