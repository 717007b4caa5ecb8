"""The project's toy model: small, plain data, and trained."""

import runpy

import numpy as np
from project import ROOT

from plaincourse import language

FILE = ROOT / "assignments/source/project_2/toy.npz"


def test_it_is_small_and_holds_numbers_only():
    assert FILE.stat().st_size <= 400_000
    with np.load(FILE, allow_pickle=False) as stored:
        assert all(
            stored[name].dtype.kind in "fi" and np.all(np.isfinite(stored[name])) for name in stored.files
        )


def test_it_has_learnt_the_language():
    next_logits = runpy.run_path(str(ROOT / "assignments/reference/project_2.py"))["next_logits"]
    rows, probabilities = language.table()
    surprises = []
    for t in range(1, language.LENGTH):
        logits = next_logits(rows[:, :t])
        top = logits.max(axis=-1)
        total = top + np.log(np.exp(logits - top[:, None]).sum(axis=-1))
        surprises.append(
            probabilities @ (total - np.take_along_axis(logits, rows[:, t : t + 1], axis=-1)[:, 0])
        )
    assert language.floor() < np.mean(surprises) < language.floor() + 0.01
