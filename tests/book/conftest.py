"""The built book and a browser to read it with, once for all tests of a worker."""

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from filelock import FileLock
from planting import planted_copy
from playwright.sync_api import Error, sync_playwright
from visits import window

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
NO_BROWSER = (
    "no Chromium found, and Playwright could not install one: install Chromium or Chrome, or name it:"
    " CHROMIUM=/path/to/chromium"
)


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


def system_chromium():
    """The path of a Chromium on this machine, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def install_chromium(playwright, lock):
    """Let Playwright install its own Chromium unless it has, and return its path; fail or skip if it
    cannot.
    """
    path = Path(playwright.chromium.executable_path)
    with FileLock(lock):
        if not path.exists():
            subprocess.run(
                [sys.executable, "-m", "playwright", "install", "chromium"], capture_output=True, timeout=600
            )
    if not path.exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(NO_BROWSER)
    return str(path)


@pytest.fixture(scope="session")
def browser(shared):
    """A headless Chromium: the system's, else Playwright's."""
    with sync_playwright() as playwright:
        path = system_chromium() or install_chromium(playwright, shared / "chromium.lock")
        try:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except Error as error:
            pytest.fail(f"{path} does not start: {error}")
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, html):
    """Open a page of the book as somebody's first one: visit("index.html", width=390, theme="dark")."""
    with ExitStack() as stack:
        yield lambda name, **settings: stack.enter_context(window(browser, html, **settings)).open(name)
