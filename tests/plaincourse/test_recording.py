"""What is recorded of a model is what the model does; the stored recording is SmolLM2's."""

import json
import runpy

import numpy as np
import pytest
from project import ROOT

from plaincourse.explorables import Inside
from plaincourse.recording import lens, observe, record, sizes, written
from plainformer import llama
from plainformer.sampling import probabilities

TOOL = runpy.run_path(str(ROOT / "tools/inside.py"))
SLACK = 0.1  # of a rounded number's last digit: what another machine's last bits may change
LETTERS = "abcdefghij\n"


class Letters:
    """A tokenizer of eleven letters."""

    def encode(self, text):
        return [LETTERS.index(letter) for letter in text]

    def decode(self, ids):
        return "".join(LETTERS[i] for i in ids)


@pytest.fixture(params=["neighbours", "halves"])
def tiny(request):
    """A random Llama of 2 blocks with 4 query heads on 2 key/value heads."""
    config = llama.Config(16, 4, 1e-5, 1e4, request.param)
    return llama.initialize(config, len(LETTERS), 24, 2, 20, 2, np.random.default_rng(0), 0.5)


def test_the_last_reading_of_the_stream_is_the_model_s_answer(tiny):
    ids = [3, 1, 4, 1, 5]
    stream, weights = observe(ids, tiny)
    assert stream.shape == (3, 5, 24) and weights.shape == (2, 4, 5, 5)
    np.testing.assert_allclose(lens(stream[-1], tiny), probabilities(llama.forward(ids, tiny)[0]), atol=1e-12)
    one = tiny._replace(blocks=tiny.blocks[:1])
    np.testing.assert_allclose(lens(stream[1], tiny), probabilities(llama.forward(ids, one)[0]), atol=1e-12)
    np.testing.assert_allclose(weights.sum(-1), 1)
    assert not np.triu(weights, 1).any()


def test_a_recording_of_any_model_can_be_shown(tiny):
    recording = record("dab\n", tiny, Letters())
    assert sizes(recording) == (4, 2, 4) and recording["prompt"] == ["d", "a", "b", "(new line)"]
    stream, weights = observe(Letters().encode("dab\n"), tiny)
    explorable = Inside(recording=recording, word=2, after=1, head=3)
    np.testing.assert_allclose(explorable.weights(), weights[0, 3, 2], atol=0.00501)
    shares = dict(explorable.says())
    for letter, share in zip(LETTERS, 100 * lens(stream[1, 2], tiny)):
        assert abs(shares.get(written(letter), share) - share) <= 0.501
    assert abs(sum(shares.values()) + explorable.others() - 100) <= 3
    readings = lens(stream[:, 2], tiny)
    assert explorable.places().tolist() == [
        1 + int((row > row[readings[-1].argmax()]).sum()) for row in readings
    ]
    assert json.loads("".join(TOOL["lines"](recording))) == recording


@pytest.mark.parametrize("text", ["a", "a" * 13])
def test_a_text_too_short_or_too_long_is_refused(tiny, text):
    with pytest.raises(ValueError, match=f"2 to 12 tokens, got {len(text)}"):
        record(text, tiny, Letters())


@pytest.mark.parametrize(
    "token, expected",
    [
        ("Data", "“Data”"), (" to", "“ to”"), (".\n", "“.\n”"), (" ", "(space)"),
        ("\n   ", "(new line + 3 × space)"), ("\xa0", "(no-break space)"), ("\u2003", "(blank)"),
    ],
)  # fmt: skip
def test_a_token_is_written_so_that_it_can_be_seen(token, expected):
    assert written(token) == expected


@pytest.mark.parametrize("name", ["prompt", "weights", "says", "others", "place"])
def test_half_a_recording_is_none(name):
    recording = Inside().recording
    without = {key: value for key, value in recording.items() if key != name}
    for broken in (without, {**recording, name: recording[name][:-1]}, {**recording, name: None}):
        with pytest.raises(ValueError, match="plaincourse.recording.record"):
            sizes(broken)


def test_the_stored_recording_is_small_and_written_by_the_tool():
    text = TOOL["FILE"].read_text(encoding="utf-8")
    assert TOOL["lines"](json.loads(text)) == text
    assert len(text.encode()) < 35_000
    assert sizes(json.loads(text)) == (5, 30, 9)


def test_the_stored_recording_is_smollm2_s(smollm2):
    """Within the rounding: on another machine a number that lies between two may be rounded to the other
    one.
    """
    model, tokenizer = smollm2
    recording = json.loads(TOOL["FILE"].read_text(encoding="utf-8"))
    ids = tokenizer.encode(TOOL["PROMPT"])
    assert recording["prompt"] == [tokenizer.decode([i]).strip() for i in ids]
    stream, weights = observe(ids, model)
    for t in range(5):
        rows = np.array([[head[t] for head in block] for block in recording["weights"]])
        np.testing.assert_allclose(rows, 100 * weights[:, :, t, : t + 1], atol=0.5 + SLACK, rtol=0)
        for after, shares in enumerate(100 * lens(stream[:, t], model)):
            order = np.argsort(-shares)[:12]
            names = {written(tokenizer.decode([i])): shares[i] for i in order}
            words, percents = zip(*recording["says"][after][t])
            live = np.array([names[word] for word in words])
            np.testing.assert_allclose(percents, live, atol=0.5 + SLACK)
            assert (np.diff(live) <= SLACK).all()
            np.testing.assert_allclose(recording["others"][after][t], 100 - live.sum(), atol=0.5 + SLACK)
            # The next one is no likelier than the last on the list, or too small to be listed.
            assert shares[order[len(words)]] <= max(live[-1], 0 if len(words) == 6 else 0.5) + SLACK
    final = np.take_along_axis(lens(stream, model), lens(stream[-1:], model).argmax(-1)[..., None], -1)
    places = (lens(stream, model) > final).sum(-1) + 1
    np.testing.assert_allclose(recording["place"], places, rtol=0.05 + SLACK / 10)
