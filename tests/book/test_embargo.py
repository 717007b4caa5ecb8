"""A book without the solutions of its exercises, for those who hand them out later."""

import json

from project import CHAPTERS

from plaincourse.book.embargo import held_back


def prose(notebook):
    """The Markdown of all its cells."""
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "markdown"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def test_no_chapter_shows_a_solution_and_all_else_stays():
    seen = 0
    for path in CHAPTERS:
        whole = path.read_text(encoding="utf-8")
        before, after = prose(whole), prose(held_back(whole))
        count = before.count("<summary>Solution</summary>")
        assert after.count("<summary>Solution</summary>") == after.count("It follows later.") == count
        for kept in ("<summary>Hint", "<details>", "</details>", "{exercise}"):
            assert before.count(kept) == after.count(kept)
        assert len(after) < len(before) - 50 * count
        seen += count
    assert seen > 40
