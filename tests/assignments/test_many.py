"""Many jobs at once: one that kills its worker loses nobody, a bad one stops nobody, and what could not be
done is done by a second run.
"""

import os
import signal

import pytest
import tiny_course as tiny
from distributed import LocalCluster
from project import THOROUGH

from plaingrader import jobs
from plaingrader.grade import collected, engine, run

COUNT = 500 if THOROUGH else 40
BAD, DEADLY = 17, 25


@pytest.fixture(scope="module")
def submissions(tiny_course, released):
    """Two students have handed in."""
    for number in range(2):
        tiny.Submission(released, f"student {number}").perfect().hand_in(tiny_course)
    return tiny_course


def fail_or_die(task):
    """A job of nothing. One of them fails; one, if it is to, kills its worker the first time."""
    number = int(task.student.split()[1])
    if THOROUGH and number == DEADLY and not os.path.exists(task.folder):
        open(task.folder, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if number == BAD:
        raise ValueError("a bad one")
    return {"student": task.student, "number": number}


@pytest.fixture
def client():
    """Two workers of a cluster that is there already, in this process; thoroughly, two processes."""
    if THOROUGH:
        with engine(2, None, COUNT) as client:
            yield client
    else:
        with LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
            with engine(None, cluster.scheduler_address, COUNT) as client:
                yield client


def test_many_jobs_come_back_in_order(client, tmp_path):
    tasks = [jobs.Task("tiny", f"student {number}", str(tmp_path / "killed")) for number in range(COUNT)]
    results = run(client, fail_or_die, tasks, lambda text: None)
    assert (tmp_path / "killed").exists() == THOROUGH
    assert [result["student"] for result in results] == [task.student for task in tasks]
    assert [result["error"] for result in results if "error" in result] == ["ValueError: a bad one"]


def test_what_could_not_be_graded_is_not_kept_and_tried_again(submissions):
    task = collected(tiny.NAME)[0][0]
    database = submissions / "gradebook.db"
    database.rename(database.with_suffix(".aside"))
    with pytest.raises((RuntimeError, FileNotFoundError)):
        jobs.grade(task)
    assert jobs.finished(task) is None
    database.with_suffix(".aside").rename(database)
    assert jobs.grade(task)["marks"] and jobs.finished(task)


def test_a_changed_submission_is_graded_anew(submissions):
    task = collected(tiny.NAME)[0][1]
    first = jobs.grade(task)
    assert jobs.finished(task) == first
    with open(os.path.join(task.folder, "notes.txt"), "w", encoding="utf-8") as file:
        file.write("one more file")
    assert jobs.finished(task) is None


def test_nothing_handed_in_is_said(tiny_course):
    from plaingrader.__main__ import main

    (
        (tiny_course / "submitted").rename(tiny_course / "aside")
        if (tiny_course / "submitted").exists()
        else None
    )
    try:
        assert main(["grade", tiny.NAME]) == 1
    finally:
        (
            (tiny_course / "aside").rename(tiny_course / "submitted")
            if (tiny_course / "aside").exists()
            else None
        )
