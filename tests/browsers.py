"""A headless Chromium for the tests that need one: the system's, else Playwright's."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock
from playwright.sync_api import Error, sync_playwright

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


@contextmanager
def chromium(lock):
    """A browser, closed at the end. lock: a file, so that one process alone installs Playwright's."""
    with sync_playwright() as playwright:
        path = system_chromium() or install_chromium(playwright, lock)
        try:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        except Error as error:
            pytest.fail(f"{path} does not start: {error}")
        yield browser
        browser.close()


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
