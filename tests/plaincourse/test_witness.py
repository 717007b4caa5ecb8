"""What is recorded of SmolLM2 is what it does."""

import json
import runpy

import numpy as np
import pytest
from project import ROOT

from plaincourse import witness

TOOL = runpy.run_path(str(ROOT / "tools/witness.py"))
SLACK = 0.011  # two decimals, and on another machine a number between two may fall to the other side


def test_the_file_is_written_by_the_tool():
    text = witness.FILE.read_text(encoding="utf-8")
    recorded = json.loads(text)
    assert witness.lines(recorded) == text
    assert list(recorded["says"]) == TOOL["SAYS"]
    assert list(recorded["looks"]) == list(TOOL["LOOKS"])
    assert list(recorded["neighbours"]) == TOOL["NEIGHBOURS"]


def test_what_is_not_recorded_is_named():
    with pytest.raises(KeyError, match="The capital of France is"):
        witness.says("The capital of Spain is")


def agree(recorded, live):
    """The same tokens with nearly the same numbers; those that are nearly alike may change places."""
    live = dict(map(tuple, live))
    assert dict(recorded) == pytest.approx({token: live[token] for token, _ in recorded}, abs=SLACK)


def test_its_parameters_are_counted(smollm2):
    model, _ = smollm2
    assert witness.parameters() == witness.size(model) == 134_515_008


@pytest.mark.parametrize("text", TOOL["SAYS"])
def test_it_says_so(text, smollm2):
    agree(witness.says(text), witness.said(text, *smollm2, TOOL["LISTED"] + 4))


@pytest.mark.parametrize("name", TOOL["LOOKS"])
def test_the_head_looks_there(name, smollm2):
    tokens, weights = witness.looks(name)
    live = witness.looked(*TOOL["LOOKS"][name], *smollm2)
    assert tokens == live["tokens"]
    np.testing.assert_allclose(weights, live["weights"], atol=SLACK)


@pytest.mark.parametrize("name", TOOL["WRITES"])
def test_it_goes_on_so(name, smollm2):
    text, count, how = TOOL["WRITES"][name]
    assert witness.writes(name) == tuple(witness.written(text, count, *smollm2, **how))


@pytest.mark.parametrize("text", TOOL["COLLECTS"])
def test_the_shares_add_up_so(text, smollm2):
    taken, sums = witness.collects(text)
    live = np.array(witness.collected(text, *smollm2))
    np.testing.assert_array_equal(taken, live[:, 0])
    np.testing.assert_allclose(sums, live[:, 1], atol=0.002)


@pytest.mark.parametrize("text", TOOL["EXPECTS"])
def test_it_expects_so(text, smollm2):
    tokens, chances = zip(*witness.expects(text), strict=True)
    live_tokens, live = zip(*witness.expected(text, *smollm2), strict=True)
    assert tokens == live_tokens
    np.testing.assert_allclose(chances, live, atol=SLACK)
    # one run over the text asks what a run over its beginning asks
    assert chances[-1] == pytest.approx(
        dict(witness.said(text.removesuffix(tokens[-1]), *smollm2, 1))[tokens[-1]], abs=SLACK
    )


@pytest.mark.parametrize("token", TOOL["NEIGHBOURS"])
def test_the_neighbours_are_these(token, smollm2):
    agree(witness.neighbours(token), witness.nearest(token, *smollm2, TOOL["LISTED"] + 4))
