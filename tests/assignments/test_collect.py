"""What Canvas, Moodle and folders give is sorted by student, every file is accounted for, and again is no
harm.
"""

import io
import os
import zipfile

import pytest
import tiny_course as tiny
from throwaway import forget, snapshot

from plaingrader.collect import collect

NAME = tiny.NAME
ROSTER = "id,first_name,last_name,canvas,moodle\nlmj,Minji,Lee,12345,\nkim,Ha-neul,Kim,,777\njo,Jo,An,,\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    root = tmp_path / "assignments"
    root.mkdir()
    (root / "course.toml").write_text(tiny.MAP, encoding="utf-8")
    (root / "students.csv").write_text(ROSTER, encoding="utf-8")
    monkeypatch.setenv("PLAINGRADER_COURSE", str(root))
    forget()
    yield root
    forget()


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2027, 3, 20, 12, 0, 0)), content)
    return path


def submitted(place):
    folder = place / "submitted"
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_canvas(place, tmp_path):
    source = zipped(
        tmp_path / "c.zip",
        {
            "leeminji_12345_67890_tiny.ipynb": "old",
            "leeminji_12345_67899_tiny-1.ipynb": "new",
            "kimhaneul_LATE_777000_67891_tiny (2).ipynb": "by name",
            "nobody_1_2_tiny.ipynb": "?",
            "anjo_5_67000_tiny.zip": b"PK stays closed",
            "__MACOSX/._x": "",
        },
    )
    lines, unknown = collect(NAME, source)
    assert submitted(place) == {
        "lmj/tiny/tiny.ipynb": "new",
        "kim/tiny/tiny.ipynb": "by name",
        "jo/tiny/tiny.zip": "PK stays closed",
    }
    assert unknown == 1 and len(lines) == 5
    assert "nobody_1_2_tiny.ipynb: whose is it? Give its student in students.csv" in lines
    assert "leeminji_12345_67890_tiny.ipynb: leeminji_12345_67899_tiny-1.ipynb counts" in lines


def test_moodle(place, tmp_path):
    source = zipped(
        tmp_path / "m.zip",
        {
            "Minji Lee_999_assignsubmission_file_/tiny.ipynb": "folder",
            "X Y_777_assignsubmission_file_tiny.ipynb": "flat",
        },
    )
    assert collect(NAME, source)[1] == 0
    assert submitted(place) == {"lmj/tiny/tiny.ipynb": "folder", "kim/tiny/tiny.ipynb": "flat"}


def test_folders_and_files_named_by_students(place, tmp_path):
    source = tmp_path / "from"
    for name, when in (
        ("KIM_tiny.ipynb", 100),
        ("kim_tiny (1).ipynb", 200),
        ("jo/tiny.ipynb", 100),
        ("jo/data.csv", 100),
        ("jo/timestamp.txt", 1),
        ("guest/tiny.ipynb", 1),
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(name)
        os.utime(source / name, (when, when))
    lines, unknown = collect(NAME, source)
    assert submitted(place) == {
        "kim/tiny/tiny.ipynb": "kim_tiny (1).ipynb",
        "jo/tiny/tiny.ipynb": "jo/tiny.ipynb",
        "jo/tiny/data.csv": "jo/data.csv",
    }
    assert unknown == 1 and any("timestamp.txt: left out" in line for line in lines)
    before = snapshot(place)
    again, _ = collect(NAME, source)
    assert snapshot(place) == before and sum("has it already" in line for line in again) == 3
    (place / "students.csv").unlink()
    assert collect(NAME, source)[1] == 0 and "guest/tiny/tiny.ipynb" in submitted(place)


def test_the_last_version_before_the_deadline_counts(place, tmp_path):
    (place / "course.toml").write_text(
        tiny.MAP + '[late.due]\ntiny = "2027-03-20 12:30 UTC"\n', encoding="utf-8"
    )
    source = zipped(tmp_path / "c.zip", {"leeminji_12345_1_tiny.ipynb": "in time"})
    with zipfile.ZipFile(source, "a") as archive:
        archive.writestr(zipfile.ZipInfo("leeminji_12345_2_tiny-1.ipynb", (2027, 3, 21, 1, 0, 0)), "late")
    collect(NAME, source)
    assert submitted(place) == {"lmj/tiny/tiny.ipynb": "in time"}


def test_no_path_leads_out_and_nothing_huge_is_read(place, tmp_path, monkeypatch):
    collect(NAME, zipped(tmp_path / "c.zip", {"../../../kim_tiny.ipynb": "x", "kim/../../evil.txt": "y"}))
    assert set(submitted(place)) <= {"kim/tiny/tiny.ipynb", "kim/tiny/evil.txt"}
    monkeypatch.setattr("plaingrader.collect.MOST", 10)
    with pytest.raises(ValueError, match="take it out"):
        collect(NAME, zipped(tmp_path / "d.zip", {"kim_tiny.ipynb": "x" * 11}))
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    (tmp_path / "e.zip").write_bytes(empty.getvalue())
    with pytest.raises(FileNotFoundError, match="no file in"):
        collect(NAME, tmp_path / "e.zip")
