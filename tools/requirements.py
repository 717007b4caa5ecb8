"""Compile requirements.txt, the pinned and complete set, from pyproject.toml, and what instructors need
beyond it.
"""

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HEADER = """\
# Everything that the book, the notebooks and the tests need, pinned.
# Compiled from pyproject.toml: make requirements
# On Linux the plain torch wheel is the large one with CUDA; the README says how to get the small one.
"""
INSTRUCTOR_HEADER = """\
# What assigning and grading need beyond requirements.txt, pinned.
# Compiled from pyproject.toml: make requirements
-r requirements.txt
"""
LEFT_UNSAID = ("emit-index-url", "emit-find-links", "emit-trusted-host")  # they belong to a machine
LEFT_OUT = {"benchmark"}  # brings a package that compiles for a quarter of an hour


def extras(*left_out):
    """The options that name every extra of pyproject.toml but those left out."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [f"--extra={name}" for name in project["optional-dependencies"] if name not in left_out]


def compile_pins(*options):
    """Return the pinned requirements, one "name==version" a line."""
    plain = [f"--no-{what}" for what in ("header", "annotate", *LEFT_UNSAID)]
    compiler = [sys.executable, "-m", "piptools", "compile", "--quiet", "--strip-extras", "--output-file=-"]
    command = [*compiler, *plain, *options, "pyproject.toml"]
    lines = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
    # A local build label ("2.13.0+cpu") names a wheel that other machines do not have.
    return [line.split("+")[0] for line in lines if "==" in line]


def write(name, text):
    Path(name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    pins = compile_pins(*extras(*LEFT_OUT, "instructor"))
    write("requirements.txt", HEADER + "\n".join(pins) + "\n-e .\n")
    constraints = Path(tempfile.mkdtemp()) / "constraints.txt"
    constraints.write_text("\n".join(pins), encoding="utf-8")
    more = compile_pins(*extras(*LEFT_OUT), f"--constraint={constraints}")
    write(
        "requirements-instructor.txt",
        INSTRUCTOR_HEADER + "\n".join(pin for pin in more if pin not in pins) + "\n",
    )
