"""Fixtures for every test."""

import os
import tempfile
from pathlib import Path

import nbformat
import pytest
from filelock import FileLock
from project import NOTEBOOKS


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def chapter(request):
    """The path of each notebook in turn: the chapters, then those of the appendix."""
    return request.param


@pytest.fixture
def notebook(chapter):
    """Each notebook as nbformat reads it."""
    return nbformat.read(chapter, as_version=4)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A folder of this test run, the same for all of pytest-xdist's workers."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def smollm2():
    """SmolLM2 and its tokenizer. The first run fetches it; without a network its tests are skipped, except in
    CI.
    """
    from plainformer.pretrained import smollm2 as source

    try:
        with FileLock(Path(tempfile.gettempdir(), "plainformer-smollm2.lock")):  # one process fetches
            return source.load()
    except ConnectionError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"needs SmolLM2, which the first run fetches: {error}")
