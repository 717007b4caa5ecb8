"""make execute: what is stored is stable, and a notebook that fails is left alone."""

import subprocess
import sys

import nbformat
import pytest
from project import ROOT


def execute(*paths):
    """Run tools/execute.py; return the finished process."""
    return subprocess.run(
        [sys.executable, ROOT / "tools/execute.py", *paths], capture_output=True, text=True, encoding="utf-8"
    )


@pytest.fixture
def notebook(tmp_path):
    """Write a notebook of the given code cells and return its path."""

    def write(*sources, **metadata):
        cells = [nbformat.v4.new_markdown_cell("# A chapter")] + [
            nbformat.v4.new_code_cell(source) for source in sources
        ]
        path = tmp_path / "chapter.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
        return path

    return write


def test_what_is_stored_is_stable(notebook):
    slider = "import ipywidgets\nipywidgets.IntSlider()"
    path = notebook(
        "print(1)\nprint(2)",
        slider,
        "1 + 1",
        widgets={"state": {}},
        language_info={"name": "python", "version": "0"},
    )
    identities = [cell.id for cell in nbformat.read(path, as_version=4).cells]
    assert execute(path).returncode == 0
    stored = nbformat.read(path, as_version=4)
    assert [cell.id for cell in stored.cells] == identities
    assert [cell.get("execution_count") for cell in stored.cells] == [None, 1, 2, 3]
    assert all("execution" not in cell.metadata for cell in stored.cells)
    assert "widgets" not in stored.metadata and stored.metadata.language_info == {"name": "python"}
    assert list(stored.cells[2].outputs[0].data) == ["text/plain"]
    before = path.read_bytes()
    done = execute(path)
    assert "unchanged" in done.stdout and path.read_bytes() == before


@pytest.mark.parametrize(
    "source, said",
    [
        ("x = 1\n1 / 0", ["cell 3", "ZeroDivisionError: division by zero"]),
        ("import warnings\nwarnings.warn('careful')", ["cell 3", "stderr", "careful"]),
        ("import os\nos._exit(1)", ["cell 3", "DeadKernelError"]),
    ],
)
def test_a_failing_notebook_is_left_as_it_was(notebook, source, said):
    path = notebook("print('fine')", source)
    before = path.read_bytes()
    done = execute(path)
    assert done.returncode == 1 and path.read_bytes() == before
    assert all(words in done.stderr for words in [path.name, *said])


def test_a_notebook_that_does_not_exist_is_named(tmp_path):
    done = execute(tmp_path / "nothing.ipynb")
    assert done.returncode == 1 and "nothing.ipynb" in done.stderr
