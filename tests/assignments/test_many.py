"""Many submissions at once: a worker that is killed loses nobody, one bad job stops nobody, and a second run
finishes the rest.
"""

import os
import shutil
import signal
import threading
import time

import psutil
import pytest
import tiny_course as tiny

from plaingrader import jobs
from plaingrader.grade import collected, engine, grade, run

COUNT = 16
SYNTHETIC = 500


@pytest.fixture(scope="module")
def submissions(tiny_course, released):
    """A class that hands in right answers and stubs by turns."""
    for number in range(COUNT):
        submission = tiny.Submission(released, f"student {number}")
        (submission.perfect() if number % 2 else submission).hand_in(tiny_course)
    return tiny_course


def kill_a_worker(stop, killed):
    """Kill one of this process's Dask workers as soon as one is at work on a submission."""
    while not stop.is_set():
        for process in psutil.Process().children(recursive=True):
            try:
                if "spawn_main" in " ".join(process.cmdline()) and process.children():
                    process.send_signal(signal.SIGKILL)
                    killed.append(process.pid)
                    return
            except psutil.Error:
                pass
        time.sleep(0.05)


def test_a_killed_worker_loses_nobody(submissions):
    stop, killed = threading.Event(), []
    killer = threading.Thread(target=kill_a_worker, args=(stop, killed))
    killer.start()
    rows = grade(tiny.NAME, workers=2, say=lambda text: None)
    stop.set()
    killer.join()
    assert killed
    assert [row.error for row in rows] == [""] * COUNT
    assert {row.student: row.total for row in rows} == {
        f"student {number}": 7.0 * (number % 2) for number in range(COUNT)
    }
    assert not [
        path for path in (submissions / ".grading" / tiny.NAME).iterdir() if path.name.startswith(".")
    ]


def nap_or_die(task):
    """A synthetic job: a few milliseconds; one of them fails; one kills its worker the first time; the result
    is kept in a file.
    """
    number = int(task.student.split()[1])
    if number == 250 and not os.path.exists(task.folder):
        open(task.folder, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 77:
        raise ValueError("a bad one")
    time.sleep(0.002)
    return {"student": task.student, "number": number}


def test_five_hundred_jobs_come_back_in_order(tmp_path):
    tasks = [jobs.Task("tiny", f"student {number}", str(tmp_path / "killed")) for number in range(SYNTHETIC)]
    with engine(2, None, SYNTHETIC) as client:
        results = run(client, nap_or_die, tasks, lambda text: None)
    assert (tmp_path / "killed").exists()
    assert [result["student"] for result in results] == [task.student for task in tasks]
    assert [result["error"] for result in results if "error" in result] == ["ValueError: a bad one"]


def test_what_could_not_be_graded_is_not_kept_and_tried_again(submissions):
    task = collected(tiny.NAME)[0][0]
    shutil.rmtree(task.kept, ignore_errors=True)
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
