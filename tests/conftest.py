"""Fixtures for every test."""

import nbformat
import pytest
from project import NOTEBOOKS


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def chapter(request):
    """The path of each notebook in turn: the chapters, then those of the appendix."""
    return request.param


@pytest.fixture
def notebook(chapter):
    """Each notebook as nbformat reads it."""
    return nbformat.read(chapter, as_version=4)
