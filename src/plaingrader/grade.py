"""Grade everything that was handed in for one assignment: many jobs at once, then marks, feedback and
reports.
"""

import json
import os
import re
import shutil
import time
from concurrent.futures import CancelledError
from contextlib import contextmanager
from html import escape
from pathlib import Path

from distributed import Client, KilledWorker, LocalCluster, as_completed

from . import (
    course,
    export,
    gradebook,
    handback,
    harmless,
    jobs,
    late,
    reading,
    remembered,
    report,
    roster,
    similar,
    submission,
)
from .questions import rubrics
from .release import assign, consistent, follow_map

SLOW = 60  # seconds for one submission that are worth a word


def grade(name, workers=None, scheduler=None, again=False, limits=(), say=print):
    """Grade an assignment and write its marks, feedback and reports into the course and ``dist/``. The rows
    of the marks.

    workers: how many processes here, by default one a processor. scheduler: the address of a Dask cluster
    that sees this folder, instead. again: grade anew what is already graded. limits: traits of
    `execute.Judge` as (name, value) pairs. One submission that cannot be graded does not stop the others; it
    says so in the marks.
    """
    tasks, misplaced = prepared(name, limits)
    if again:
        for task in tasks:
            shutil.rmtree(task.kept, ignore_errors=True)
    say(f"{sum(jobs.finished(task) is not None for task in tasks)} of {len(tasks)} are graded already")
    with engine(workers, scheduler, len(tasks)) as client:
        results = [
            published(task, result)
            for task, result in zip(tasks, run(client, jobs.grade, tasks, say), strict=True)
        ]
        late.apply(name)
        feedback = [task for task, result in zip(tasks, results, strict=True) if "error" not in result]
        given = dict(zip(feedback, run(client, give_feedback, feedback, say, "feedback"), strict=True))
    for task, result in zip(tasks, results, strict=True):
        if "error" in given.get(task, {}):
            result["notes"] = [*result["notes"], f"no feedback page: {given[task]['error'].splitlines()[0]}"]
    similar.write(course.dist() / f"similar-{name}.html", name, feedback)
    results += misplaced
    names = {result["student"] for result in results}
    remarks = roster.remarks(names)
    for result in results:
        remark = remarks.get(result["student"])
        result["notes"] = [*result["notes"], *([remark] if remark else [])]
    results += [failed(name, student, roster.NOT_HANDED_IN) for student in roster.missing(names)]
    return written(name, export.rows(name, results), results)


def prepared(name, limits=()):
    """What was handed in, as `collected` has it, once the assignment is in the gradebook, at the map's
    points.
    """
    follow_map(name)
    consistent(name)
    tasks, misplaced = collected(name, tuple(limits))
    course.dist().mkdir(exist_ok=True)
    if not os.access(course.dist(), os.W_OK):
        raise PermissionError(f"the marks cannot be written: {course.dist()} is read-only")
    if gradebook.points(name) != {item.name: item.points for item in course.find(name).items}:
        assign(name)
    late.rule()  # a rule that cannot be meant is named before anything is graded
    roster.tell_gradebook()
    return tasks, misplaced


def collected(name, limits=()):
    """One Task for each folder of ``submitted/<student>/NAME``, and results that say why for folders that no
    student can have.

    FileNotFoundError if there is no folder at all.
    """
    course.find(name)
    submitted = course.folder() / "submitted"
    folders = sorted(folder for folder in submitted.glob(f"*/{name}") if folder.is_dir())
    high = [path for path in sorted(submitted.glob(f"*/{name}.ipynb")) if not (path.parent / name).is_dir()]
    if not folders and not high:
        raise FileNotFoundError(f"nothing was handed in: no folder {submitted}/<student>/{name}")
    reasons = {folder: misnamed(folder) for folder in folders}
    tasks = [
        jobs.Task(name, folder.parent.name, str(folder), limits) for folder in folders if not reasons[folder]
    ]
    odd = [
        failed(name, ascii(folder.parent.name)[1:-1], reason) for folder, reason in reasons.items() if reason
    ]
    return tasks, odd + [
        failed(
            name,
            path.parent.name,
            f"the notebook lies one folder too high: it belongs into {path.parent.name}/{name}/",
        )
        for path in high
    ]


def misnamed(folder):
    """Why nothing can be graded under this folder's name, or None."""
    name = folder.parent.name
    if name.startswith("."):
        return "the folder's name begins with a dot: give it the student's id as its name"
    if not name.isprintable():  # line ends, and bytes that are no UTF-8
        return "the folder's name has characters that cannot be printed: give it the student's id as its name"
    if folder.is_symlink() or folder.parent.is_symlink():
        return "the folder is a link to another one: copy what was handed in"
    return None


def failed(name, student, text):
    """The result of a submission that could not be graded."""
    return {"student": student, "assignment": name, "notes": [], "marks": [], "error": text}


@contextmanager
def engine(workers, scheduler, count):
    """A Dask client: of the cluster at this address, or of processes here."""
    if scheduler:
        with Client(scheduler) as client:
            yield client
        return
    workers = workers or max(1, min(os.cpu_count() or 1, count))
    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=None,
        host="127.0.0.1",
        dashboard_address=None,
        worker_dashboard_address="127.0.0.1:0",
        silence_logs="ERROR",
    ) as cluster:
        with Client(cluster) as client:
            yield client


def run(client, job, tasks, say, what="graded"):
    """The results of all jobs in the order of the tasks; a dict with "error" for a job that failed or was
    lost with its worker. It says how far it is, how long the rest will take, and which submission was slow.
    """
    results, start = {}, time.monotonic()
    futures = {client.submit(job, task, pure=False): task for task in tasks}
    for future in as_completed(futures):
        task = futures[future]
        results[task] = outcome(future, task)
        if results[task].get("seconds", 0) > SLOW:
            say(f"{task.student!r} took {results[task]['seconds']:.0f} seconds")
        done = len(results)
        if done in (5, len(tasks)) or done % 25 == 0:
            rest = (time.monotonic() - start) / done * (len(tasks) - done) / 60
            say(f"{what} {done} of {len(tasks)}" + (f", about {rest:.0f} minutes to go" if rest >= 1 else ""))
    return [results[task] for task in tasks]


def outcome(future, task):
    """The job's result, or its error as a result."""
    try:
        return future.result()
    except reading.Unclear as error:
        write_note(task, str(error))
        text = str(error)
    except KilledWorker:
        text = "its worker was killed every time it was tried"
    except (Exception, CancelledError) as error:
        text = last_line(error)
    return failed(task.assignment, task.student, text)


def last_line(error):
    """An error in one line: of nbgrader's logs the last, which says what it was."""
    logged = re.compile(r"\[(\w+ \| )?(DEBUG|INFO|WARNING|ERROR|CRITICAL)\]")
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    lines = [line for line in lines if not logged.match(line)] or lines
    return f"{type(error).__name__}: {lines[-1] if lines else 'no message'}"[:500]


def published(task, result):
    """The result, after `publish`; one that cannot be published says so and stops nobody else's."""
    try:
        publish(task, result)
    except Exception as error:
        return failed(task.assignment, task.student, last_line(error))
    return result


def publish(task, result):
    """Put a job's result where nbgrader looks for it: the autograded notebook, and the scores in the
    gradebook.

    Once only: nbgrader flags every mark that a person gave as soon as a machine's mark comes again.
    """
    if "error" in result or remembered.holds(task, result):
        return
    notebook = task.kept / f"{task.assignment}.ipynb"
    target = course.folder() / "autograded" / task.student / task.assignment
    target.mkdir(parents=True, exist_ok=True)
    gradebook.record(task, notebook)
    earlier = remembered.settle(task, notebook, result)
    harmless.write(notebook, target / notebook.name, earlier, rubrics(task.assignment))
    for path in submission.files(Path(task.folder)):
        if path.name in jobs.NOTES:  # nbgrader's exchange looks for them beside the feedback
            shutil.copy(path, target)


def give_feedback(task):
    """nbgrader's feedback page of one student, made again only if a mark has changed."""
    page = course.folder() / "feedback" / task.student / task.assignment / f"{task.assignment}.html"
    state, stamp = gradebook.state(task), task.kept / "feedback.json"
    if page.exists() and stamp.exists() and json.loads(stamp.read_text(encoding="utf-8")) == state:
        return {}
    gradebook.feedback(task)
    stamp.write_text(json.dumps(state), encoding="utf-8")
    return {}


def write_note(task, reason):
    """The feedback page of a submission in which there is nothing to give feedback on."""
    page = course.folder() / "feedback" / task.student / task.assignment / f"{task.assignment}.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(
        f"<!doctype html><meta charset=utf-8><title>{task.assignment}</title>"
        f"<h1>{task.assignment}: not graded</h1>"
        f"<p>{escape(reason)}.</p>\n",
        encoding="utf-8",
    )


def written(name, rows, results):
    """Write marks, exports and the class report; return the rows."""
    dist = course.dist()
    export.marks(dist / f"marks-{name}.csv", rows)
    export.nbgrader(dist / f"nbgrader-{name}.csv", rows)
    export.canvas(dist / f"canvas-{name}.csv", rows)
    export.moodle(dist / f"moodle-{name}.csv", rows)
    report.write(dist / f"report-{name}.html", course.find(name), rows, results)
    handback.write(name, rows)
    return rows
