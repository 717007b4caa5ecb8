"""Compile requirements.txt, the pinned and complete set, from pyproject.toml."""

import subprocess
import sys
import tomllib
from pathlib import Path

HEADER = """\
# Everything that the book, the notebooks and the tests need, pinned. Compiled from pyproject.toml: make requirements
# On Linux the plain torch wheel is the large one with CUDA; the README says how to get the small one.
"""
LEFT_OUT = {"benchmark"}  # brings a package that compiles for a quarter of an hour


def extras():
    """The options that name every extra of pyproject.toml but those left out."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [f"--extra={name}" for name in project["optional-dependencies"] if name not in LEFT_OUT]


def compile_pins():
    """Return the pinned requirements, one "name==version" a line."""
    command = [sys.executable, "-m", "piptools", "compile", "--quiet", *extras(), "--strip-extras", "--no-header",
               "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--no-emit-trusted-host", "--output-file=-", "pyproject.toml"]  # fmt: skip
    lines = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    # A local build label ("2.13.0+cpu") names a wheel that other machines do not have.
    return [line.split("+")[0] for line in lines if "==" in line]


if __name__ == "__main__":
    text = HEADER + "\n".join(compile_pins()) + "\n-e .\n"
    Path("requirements.txt").write_text(text, encoding="utf-8", newline="\n")
