"""A tiny model's file."""

import pytest
from tiny import tiny_fields, tiny_tensors, write_gguf


@pytest.fixture
def tiny_gguf(tmp_path):
    """The path of a tiny GGUF file."""
    return write_gguf(tmp_path / "tiny.gguf", tiny_fields(), tiny_tensors())
