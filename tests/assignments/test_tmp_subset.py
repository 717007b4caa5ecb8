import shutil
import pytest
import test_grading as tg
import tiny_course as tiny
from alone import grade_alone
KEEP = ["perfect", "stub", "forger", "says right", "spy", "writer", "sly importer", "importer", "renamed", "old format", "windows",
        "stripped", "loop that cannot be stopped", "exits in a function", "copied", "nobody", "links", "start-up", "two notebooks",
        "broken file", "missing", "linked", ".hidden", "own variants", "odd metadata", "forged display", "edits tests", "deletes tests"]
RIGHT = {"perfect", "spy", "writer", "sly importer", "renamed", "old format", "windows", "stripped", "links", "start-up", "own variants", "odd metadata", "forged display"}
def test_subset(boxed, tiny_course, released, tmp_path):
    tg.hand_in_everything(tiny_course, released, tmp_path)
    for path in (tiny_course / "submitted").iterdir():
        if path.name not in KEEP:
            shutil.rmtree(path)
    rows = grade_alone(limits=tg.LIMITS)
    for name, row in sorted(rows.items()):
        print(name, row.scores, row.error, row.notes, {k: v[:150] for k, v in row.messages.items()})
    assert "SEEN []" in tg.output(tiny_course, "spy") and "WROTE" in tg.output(tiny_course, "writer")
    assert "LINK none" in tg.output(tiny_course, "links")
    bad = [name for name in RIGHT if tg.machine(rows[name]) != tg.ALL]
    assert not bad
