"""Fixtures for every test."""

import nbformat
import pytest
from project import CHAPTERS


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def chapter(request):
    """Each chapter's path in turn."""
    return request.param


@pytest.fixture
def notebook(chapter):
    """Each chapter as nbformat reads it."""
    return nbformat.read(chapter, as_version=4)
