"""The built book and a browser to read it with, once for all tests of a worker."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from browsers import chromium
from filelock import FileLock
from planting import planted_copy
from visits import window


def build_book(source, output):
    """Build the book strictly from the folder `source` into `output`; return the finished process."""
    program = "from jupyter_book.cli.main import main; main()"
    arguments = ["build", "-W", "-n", "--keep-going", "-q", "--path-output", str(output), str(source)]
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, encoding="utf-8"
    )


@pytest.fixture(scope="session")
def html(shared):
    """The folder of the built book: BOOK=_build/html if that is set, else built by the first worker that
    asks, strictly.

    It is built from a copy whose assignments have a canary in every solution, which no page may show.
    """
    if "BOOK" in os.environ:
        return Path(os.environ["BOOK"]).resolve()
    output = shared / "book"
    with FileLock(shared / "book.lock"):
        if not output.exists():
            done = build_book(planted_copy(shared / "source"), output)
            assert done.returncode == 0, done.stdout + done.stderr
    return output / "_build" / "html"


@pytest.fixture(scope="session")
def browser(shared):
    """A headless Chromium."""
    with chromium(shared / "chromium.lock") as browser:
        yield browser


@pytest.fixture
def visit(browser, html):
    """Open a page of the book as somebody's first one: visit("index.html", width=390, theme="dark")."""
    with ExitStack() as stack:
        yield lambda name, **settings: stack.enter_context(window(browser, html, **settings)).open(name)
