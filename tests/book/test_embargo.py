"""A book without the solutions of its exercises, for those who hand them out later."""

import json

from project import CHAPTERS

from plaincourse.book.embargo import held_back


def boxes(notebook):
    """The heads of all folded boxes, and the text in them that is code or prose."""
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "markdown"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def test_no_chapter_shows_a_solution_and_all_else_stays():
    seen = 0
    for path in CHAPTERS:
        whole = path.read_text(encoding="utf-8")
        before, after = boxes(whole), boxes(held_back(whole))
        count = before.count("{dropdown} Solution")
        assert after.count("{dropdown} Solution") == after.count("It follows later.") == count
        assert before.count("{dropdown} Hint") == after.count("{dropdown} Hint")
        assert before.count("{exercise}") == after.count("{exercise}")
        assert len(after) < len(before) - 50 * count
        seen += count
    assert seen > 40
