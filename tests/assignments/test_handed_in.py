"""What is unambiguous in a submission is taken, and about the rest a person is asked; nobody gets a zero
for it.
"""

import copy
import io
import json
import zipfile

import nbformat
import pytest
import tiny_course as tiny
from nbformat.v4 import new_markdown_cell

from plaingrader import gradebook
from plaingrader.mend import mended, originals
from plaingrader.reading import MOST_BYTES, Unclear, read

NAME = tiny.NAME


@pytest.fixture(scope="module")
def text():
    return nbformat.writes(tiny.source_notebook())


def zipped(**files):
    """A zip of files by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def lay(folder, **files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        "tiny.ipynb",
        "tiny.IPYNB",
        "Tiny.ipynb.txt",
        "tiny.ipynb.json",
        "my answers.ipynb",
        "sub/tiny.ipynb",
        "kim tiny.ipynb",
    ],
)
def test_a_notebook_of_another_name_is_taken(tmp_path, text, name):
    nb, notes = read(
        lay(tmp_path, **{name: text, "._tiny.ipynb": b"\0\5", "__MACOSX/tiny.ipynb": b"\0"}), NAME
    )
    assert len(nb.cells) == len(tiny.source_notebook().cells)
    assert notes == ([] if name == "tiny.ipynb" else [f"tiny.ipynb is missing; {name} was taken for it"])


def test_a_notebook_in_a_zip_is_taken_and_nothing_is_unpacked(tmp_path, text):
    content = zipped(**{"../../tiny.ipynb": text, "__MACOSX/._tiny.ipynb": b"\0", "big.txt": b"0" * 10**6})
    lay(tmp_path / "desk", **{"tiny.zip": content})
    nb, notes = read(tmp_path / "desk", NAME)
    assert nb.cells and "tiny.zip: ../../tiny.ipynb was taken" in notes[0]
    assert [path.name for path in tmp_path.rglob("*")] == ["desk", "tiny.zip"]


def test_the_right_name_counts_among_others_and_equal_copies_are_one(tmp_path, text):
    other = nbformat.writes(nbformat.v4.new_notebook())
    assert read(lay(tmp_path / "a", **{"tiny.ipynb": text, "old.ipynb": other}), NAME)[0].cells
    assert read(lay(tmp_path / "b", **{"x.ipynb": text, "y.ipynb": text}), NAME)[0].cells
    assert read(lay(tmp_path / "c", **{"tiny.IPYNB": text, "old.ipynb": other}), NAME)[0].cells


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "there is no notebook: ask for tiny.ipynb"),
        ({"tiny.pdf": "x"}, "there is no notebook, only tiny.pdf"),
        ({"a.ipynb": "{}", "b.ipynb": "[]"}, "more than one notebook: a.ipynb, b.ipynb"),
        ({"tiny.ipynb": '{"cells": ['}, "tiny.ipynb is not a notebook that can be read: ask for it again"),
        ({"tiny.ipynb": "[" * 100_000}, "is not a notebook that can be read"),
        (
            {"tiny.ipynb": '{"cells": [], "metadata": {"x": ' + "9" * 6000 + "}}"},
            "is not a notebook that can be read",
        ),
        ({"tiny.zip": "no zip"}, "tiny.zip cannot be unpacked"),
        ({"tiny.zip": zipped(**{"tiny.ipynb": b"0" * (MOST_BYTES + 9)})}, "has 20 MB"),
    ],
)
def test_what_only_a_person_can_decide_is_asked(tmp_path, files, words):
    with pytest.raises(Unclear, match=words):
        read(lay(tmp_path, **files), NAME)


def test_a_notebook_is_made_anew_of_known_parts(tmp_path):
    data = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"widgets": {"x": [1]}},
        "cells": [
            {
                "cell_type": "code",
                "source": "print('\ud800')",
                "metadata": {"tags": 7, "nbgrader": 3},
                "outputs": "none",
                "execution_count": "<img>",
                "id": "q1",
            },
            {"cell_type": "markdown", "source": 17, "metadata": None, "attachments": [1]},
            {"cell_type": "unknown", "source": ["a", "b"], "id": {"x": 1}},
        ],
    }
    nb, _ = read(lay(tmp_path, **{"tiny.ipynb": json.dumps(data)}), NAME)
    assert [cell.source for cell in nb.cells] == ["print('?')", "17", "ab"]
    assert nb.cells[0].outputs == [] and nb.cells[0].execution_count is None and nb.cells[0].id == "q1"
    assert not nb.metadata and not any(cell.metadata for cell in nb.cells)
    nbformat.validate(nb)


@pytest.fixture(scope="module")
def handed_out(tiny_course, released):
    with gradebook.opened() as book:
        return originals(book.find_notebook(NAME, NAME))


def answer(cells, name):
    return next(cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)


@pytest.mark.parametrize("offset", [0, 1])
def test_a_text_in_a_new_cell_beside_the_answer_is_the_answer(released, handed_out, offset):
    kim = tiny.Submission(released, "kim").nb
    place = next(index for index, cell in enumerate(kim.cells) if cell.id == "q4")
    kim.cells.insert(place + offset, new_markdown_cell("Because it is so."))
    cells = mended(kim.cells, copy.deepcopy(handed_out))
    assert (
        answer(cells, "q4").source == "Because it is so." and answer(cells, "q4").metadata.plaincourse.beside
    )


def test_code_in_a_new_cell_is_the_answer_where_the_stub_stayed(released, handed_out):
    body = tiny.RIGHT["my_sigmoid"]
    cells = mended(tiny.Submission(released, "kim").add(body).nb.cells, copy.deepcopy(handed_out))
    assert answer(cells, "q3").source == body
    done = tiny.Submission(released, "kim").perfect().add("def my_sigmoid(z): return 7").nb.cells
    assert answer(mended(done, copy.deepcopy(handed_out)), "q3").source == body
