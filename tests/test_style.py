"""One style for all Python of the course, as pyproject.toml sets it."""

import subprocess
import sys

import pytest
from project import ROOT

ADVICE = {
    ("format", "--check", "--quiet"): "ruff format",
    ("check", "--output-format=concise", "--quiet"): "ruff check --fix, and the rest by hand",
}


@pytest.mark.parametrize("command", ADVICE, ids=lambda command: command[0])
def test_ruff_finds_nothing(command):
    run = [sys.executable, "-m", "ruff", *command, "."]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        pytest.fail(f"{done.stdout}{done.stderr}To mend it: {ADVICE[command]}", pytrace=False)
