"""The real text, its windows, and the recorded trainings against a live one."""

import itertools
import runpy
import subprocess
import sys

import numpy as np
import pytest
import torch
from project import ROOT

from plaincourse import novel

TOOL = runpy.run_path(str(ROOT / "tools/novel.py"))


@pytest.fixture(scope="module")
def book():
    return novel.text()


def test_the_text_comes_back_from_its_ids(book):
    whole = novel.FILE.read_text(encoding="utf-8")
    assert book.decode([*book.learn, *book.keep]) == whole
    assert len(book.keep) == int(0.1 * len(whole)) and len(book.characters) == len(set(whole))


def test_windows_are_pieces_of_the_text(book):
    batch = next(novel.batches(book.learn, np.random.default_rng(0), size=3))
    assert batch.shape == (3, novel.CONTEXT + 1)
    assert all(book.decode(row) in book.decode(book.learn) for row in batch)


def test_the_recorded_training_begins_like_a_live_one(book):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    count, steps, every = TOOL["RUNS"]["little"]
    live = novel.training(book, book.learn[:count], steps, every)
    for recorded, note in zip(novel.recorded("little")[:2], itertools.islice(live, 2), strict=True):
        assert recorded["step"] == note["step"]
        assert [recorded["learn"], recorded["keep"]] == pytest.approx([note["learn"], note["keep"]], abs=0.01)
    torch.set_num_threads(threads)


def test_a_text_of_ones_own(tmp_path):
    mine = novel.text("the cat sat on the mat. " * 60)
    first, last = novel.training(mine, mine.learn, steps=20, every=20)
    assert first["learn"] == pytest.approx(np.log(len(mine.characters)), abs=0.3)
    assert last["keep"] < first["keep"]
    assert set(last["writes"]) <= set(mine.characters)


@pytest.mark.parametrize(
    "content, message", [("too short", "more than 650 characters, got 9"), (None, "No such file")]
)
def test_a_text_that_will_not_do(tmp_path, content, message):
    path = tmp_path / "mine.txt"
    if content:
        path.write_text(content, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "plaincourse.novel", str(path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1 and message in run.stderr and "Traceback" not in run.stderr
