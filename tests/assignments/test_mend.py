"""A notebook gets its shape back, and the student's own code stays as it is."""

import copy
import random

import pytest
import tiny_course as tiny
from nbformat.v4 import new_code_cell
from project import THOROUGH

from plaingrader import gradebook
from plaingrader.mend import mended, originals


@pytest.fixture(scope="module")
def handed_out(tiny_course, released):
    with gradebook.opened() as book:
        return originals(book.find_notebook(tiny.NAME, tiny.NAME))


def perfect(released):
    return tiny.Submission(released, "kim").perfect().nb.cells


def shape(cells):
    return [(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source) for cell in cells]


def test_what_is_whole_stays_as_it_is(released, handed_out):
    cells = perfect(released)
    before = shape(cells)
    assert shape(mended(cells, copy.deepcopy(handed_out))) == before


@pytest.mark.parametrize("seed", range(200 if THOROUGH else 10))
def test_locked_cells_that_are_gone_or_changed_come_back_in_order(released, handed_out, seed):
    chance = random.Random(seed)
    whole = shape(perfect(released))
    locked = [name for name, cell in handed_out.items() if cell.metadata.nbgrader.locked]
    cells = [cell for cell in perfect(released) if cell.id not in chance.sample(locked, 4)]
    for cell in cells:
        if cell.id in locked and chance.random() < 0.3:
            cell.source = "3.0"
        if chance.random() < 0.3:
            cell.metadata.pop("nbgrader", None)
    assert sorted(shape(mended(cells, copy.deepcopy(handed_out))), key=str) == sorted(whole, key=str)


def test_without_any_id_answers_are_known_by_what_they_define(released, handed_out):
    whole = shape(perfect(released))
    cells = perfect(released)
    for cell in cells:
        cell.metadata.clear()
        cell.id = f"x{abs(hash(cell.id))}"
    assert shape(mended(cells, copy.deepcopy(handed_out))) == whole


def test_cells_of_the_students_own_stay(released, handed_out):
    cells = perfect(released)
    cells.insert(3, new_code_cell("draft = 1"))
    assert (None, "draft = 1") in shape(mended(cells, copy.deepcopy(handed_out)))
