"""The real model, fetched once, and a tiny one."""
import os
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock
from plainformer.pretrained import smollm2 as source
from tiny import tiny_fields, tiny_tensors, write_gguf


@pytest.fixture(scope="session")
def smollm2():
    """SmolLM2 and its tokenizer. The first run fetches it; without a network its tests are skipped, except in CI."""
    try:
        with FileLock(Path(tempfile.gettempdir(), "plainformer-smollm2.lock")):  # one process fetches
            return source.load()
    except ConnectionError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"needs SmolLM2, which the first run fetches: {error}")


@pytest.fixture
def tiny_gguf(tmp_path):
    """The path of a tiny GGUF file."""
    return write_gguf(tmp_path / "tiny.gguf", tiny_fields(), tiny_tensors())
