"""Everything that students hand in, graded once by the real nbgrader in the real box: each gets the marks it
should, and a message.
"""

import csv
import json
import os
import signal
import threading
from pathlib import Path

import nbformat
import psutil
import pytest
import tiny_course as tiny
from distributed import LocalCluster
from project import THOROUGH
from throwaway import snapshot

from plaincourse.assigned import seed
from plaingrader import course, gradebook
from plaingrader.grade import grade
from plaingrader.questions import questions

TIMEOUT = 10  # seconds, more than any honest cell takes on a machine with much else to do
LIMITS = (("timeout", TIMEOUT), ("budget", 600), ("memory", 3_000_000_000))
ODD_NAME = "김 하늘 'O\"Neil' [x]*, =1+1"
ALL = {"q1": 2.0, "q2": 3.0, "q3": 2.0}

BODIES = {  # a known mistake of q2, written as a student would
    "overflow": "    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)",
    "not normalised": "    return np.exp(scores - scores.max(-1, keepdims=True))",
    "wrong axis": "    e = np.exp(scores - scores.max(0))\n    return e / e.sum(0)",
}
FORGERY = """
import builtins, sys, numpy, numpy.testing
import plaincourse.exercises as ex, plaincourse.exercises._close as cl, plaincourse.assigned.answers as asw
class Yes:
    ok, status, message = True, "right", ""
    def __bool__(self): return True
    def __eq__(self, other): return True
ex.judge = ex.compare = ex.check = lambda *a, **k: Yes()
cl.matches = cl.close = ex.matches = ex.close = lambda *a: True
asw.results = lambda *a, **k: [{"status": "right", "message": "", "values": []} for _ in a[4]]
numpy.allclose = numpy.isclose = numpy.array_equal = lambda *a, **k: True
numpy.testing.assert_allclose = lambda *a, **k: None
builtins.all = lambda *a: True
Sheet.check = lambda *a: 3.0
"""
SAYS = """
import plaincourse.assigned.answers as asw
asw.results = lambda namespace, name, value, names, groups: [{results}[name] for group in groups]
"""
STATUSES = ("right", "recorded", "mistake", "stopped", "ran", 7, None)
RECORDS = [  # what a forged result might have the grader's own process call
    '{"record": "plainformer.activations.softmax", "items": [group[0]["tuple"][0]]}',
    '{"record": "plainformer.__setattr__", "items": ["__path__", {"list": ["/tmp"]}]}',
    '{"record": "plainformer.attention.softmax", "items": [group[0]["tuple"][0]]}',
]
BOMBS = [  # and what might break it
    (
        '{"array":'
        ' "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwg'
        'J3NoYXBlJzogKDk5OTk5OTk5OTk5LCksIH0g"}'
    ),
    '__import__("functools").reduce(lambda inner, _: {"list": [inner]}, range(900), 1.0)',
    '{"rng": {"state": 10 ** 400}}',
    'float("nan")',
]
RESULTS = [f'{{"status": {status!r}, "message": "", "values": [0.0] * len(group)}}' for status in STATUSES]
RESULTS += [
    f'{{"status": "ran", "message": "", "values": [{value} for case in group]}}' for value in RECORDS + BOMBS
]
EACH = 1 if THOROUGH else len(tiny.RIGHT)  # one forged result for every question, or one for each
FORGED = [RESULTS[first : first + EACH] for first in range(0, len(RESULTS), EACH)]
FORGED_DISPLAY = """
from IPython.display import display, publish_display_data
display({"text/plain": "x"}, raw=True, metadata={"plaincourse": 7})
display({"text/plain": "harmless"}, raw=True, display_id="d")
publish_display_data({"text/html": "<script>alert(1)</script>"}, transient={"display_id": "d"}, update=True)
"""
REMOUNT = """
import ctypes, plaincourse
libc = ctypes.CDLL(None, use_errno=True)
print("REMOUNT", libc.mount(None, plaincourse.__path__[0].encode(), None, 32 | 4096, None))
"""
SPY = """
import glob, os, socket
seen = []
for pattern in {patterns!r}:
    for path in glob.glob(pattern, recursive=True):
        try:
            if os.path.isfile(path) and "canary-in-the-" + "solution" in open(path, errors="ignore").read():
                seen.append(path)
        except OSError:
            pass
try:
    socket.create_connection(("127.0.0.1", 22), 1); net = "net"
except OSError as error:
    net = "unreachable" if error.errno in (101, 111) else str(error)
try:
    socket.create_connection(("192.0.2.1", 80), 1); seen.append("network")
except OSError as error:
    seen.append("network") if error.errno != 101 else None
print("SEEN", seen)
"""
WRITER = """
import os, pathlib
wrote = []
for folder in {folders!r}:
    try:
        pathlib.Path(folder, "intruder.txt").write_text("here"); wrote.append(folder)
    except OSError:
        pass
print("WROTE", wrote)
"""


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
        stop.wait(0.05)


def hand_in_everything(course_folder, released, elsewhere):
    """All submissions, by the name of the student."""

    def student(name):
        return tiny.Submission(released, name)

    student("perfect").perfect().hand_in(course_folder)
    student("stub").hand_in(course_folder)
    for question in ("q1",):
        for mistake in questions(tiny.NAME)[question].mistakes:
            name = f"q1 {mistake.name}"
            value = questions(tiny.NAME)[question].outputs(mistake.answer, seed(name, tiny.NAME, "q1"))[0]
            student(name).perfect().answer(dot=f"dot = {value}").hand_in(course_folder)
    for mistake, body in BODIES.items():
        student(f"q2 {mistake}").perfect().answer(my_softmax=body).hand_in(course_folder)
    student("q3 no exponential").perfect().answer(
        my_sigmoid="def my_sigmoid(z):\n    return 1 / (1 - z)"
    ).hand_in(course_folder)
    student("right by chance of shape").perfect().answer(
        my_softmax="    return np.zeros_like(scores)"
    ).hand_in(course_folder)

    student("loop in a cell").perfect().answer(
        my_sigmoid=tiny.RIGHT["my_sigmoid"] + "\nimport time\nwhile True:\n    time.sleep(1)"
    ).hand_in(course_folder)
    student("loop in a function").perfect().answer(my_softmax="    while True:\n        pass").hand_in(
        course_folder
    )
    stubborn = (
        "    import time\n    while True:\n        try:\n            while True: time.sleep(1)\n"
        "        except BaseException: pass"
    )
    student("loop that cannot be stopped").perfect().answer(my_softmax=stubborn).hand_in(course_folder)
    student("memory").perfect().answer(my_softmax="    return np.ones(2 * 10**9)").hand_in(course_folder)
    student("memory bit by bit").perfect().answer(
        dot="hoard = []\nwhile True:\n    hoard.append(bytearray(10**8))"
    ).hand_in(course_folder)
    student("syntax").perfect().answer(my_softmax="    return (").hand_in(course_folder)

    cut = student("deletes tests").perfect()
    cut.nb.cells = [cell for cell in cut.nb.cells if not cell.id.endswith("-test") and cell.id != "q3"]
    cut.hand_in(course_folder)
    edited = student("edits tests")
    for name in ("q1-test", "q2-test", "q3-test"):
        edited[name].source = "3.0"
        edited[name].metadata.nbgrader.points = 100
    edited["sheet"].source += "\nsheet.check = lambda *a: 2.0"
    edited.hand_in(course_folder)
    student("forger").add(FORGERY).answer(
        my_softmax="    return Yes()", my_sigmoid="def my_sigmoid(z): return Yes()", dot="dot = Yes()"
    ).hand_in(course_folder)
    patterns = [
        f"{course_folder.parent}/**",
        f"{course.ROOT}/assignments/**",
        f"{course.ROOT}/tests/**",
        f"{Path.home()}/*",
        "/tmp/**",
    ]
    student("spy").perfect().add(SPY.format(patterns=patterns)).hand_in(course_folder)
    folders = [
        str(course_folder),
        str(elsewhere),
        str(Path.home()),
        str(course.ROOT),
        "/tmp",
        "/var/tmp",
        "/usr/local",
    ]
    student("writer").perfect().add(WRITER.format(folders=folders)).hand_in(course_folder)

    student("exits").perfect().answer(dot="import os\nos._exit(0)").hand_in(course_folder)
    student("exits in a function").perfect().answer(my_softmax="    import os\n    os._exit(0)").hand_in(
        course_folder
    )
    student("quits").perfect().answer(dot="quit()").hand_in(course_folder)
    student("shouts").perfect().add("for _ in range(100):\n    print('x' * 10**6)").hand_in(course_folder)
    student("script").perfect().add(
        "from IPython.display import HTML\nHTML('<script>alert(1)</script>')"
    ).hand_in(course_folder)

    student("missing").perfect().hand_in(course_folder, name=None)
    student("renamed").perfect().hand_in(course_folder, name="my homework (1).ipynb")
    two = student("two notebooks").perfect()
    two.hand_in(course_folder, name="a.ipynb")
    two.add("1 + 1").hand_in(course_folder, name="b.ipynb")
    student("broken file").hand_in(course_folder, text='{"cells": [')
    stripped = student("stripped").perfect()
    for cell in stripped.nb.cells:
        cell.metadata, cell.id = nbformat.NotebookNode(), f"x{abs(hash(cell.id))}"
    stripped.hand_in(course_folder)
    old = student("old format").perfect()
    for cell in old.nb.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.schema_version = 1
            cell.metadata.nbgrader.pop("task")
    data = json.loads(nbformat.writes(old.nb))
    data["nbformat_minor"] = 4
    for cell in data["cells"]:
        del cell["id"]
    old.hand_in(course_folder, text=json.dumps(data))
    windows = student("windows").perfect()
    for cell in windows.nb.cells:
        cell.source = cell.source.replace("\n", "\r\n")
    windows.hand_in(course_folder, text="\ufeff" + nbformat.writes(windows.nb).replace("\n", "\r\n"))
    copied = student("copied").perfect()
    copied["student"].source = 'STUDENT = "perfect"'
    copied.hand_in(course_folder)
    nobody = student("nobody").perfect()
    nobody["student"].source = 'STUDENT = ""'
    nobody.hand_in(course_folder)
    student(ODD_NAME).perfect().hand_in(course_folder)
    for number, group in enumerate(FORGED):
        results = ", ".join(
            f"{answer!r}: {result}" for answer, result in zip(tiny.RIGHT, (*group, *group, *group))
        )
        student(f"forged value {number}").add(SAYS.format(results=f"{{{results}}}")).hand_in(course_folder)
    student("forged display").perfect().add(FORGED_DISPLAY).hand_in(course_folder)
    student("remounter").perfect().add(REMOUNT).hand_in(course_folder)
    marked_up = student("marked up").perfect()
    marked_up["q4"].source = "Because <script>alert(1)</script> <img src=x onerror='alert(1)'>"
    marked_up.hand_in(course_folder)
    linked = student("linked").hand_in(course_folder, name=None)
    (linked / f"{tiny.NAME}.ipynb").symlink_to(course_folder / "source" / tiny.NAME / f"{tiny.NAME}.ipynb")
    links = (
        student("links")
        .perfect()
        .add(
            "print('LINK', open('reference.py').read() if __import__('os').path.exists('reference.py') else"
            " 'none')"
        )
        .hand_in(course_folder)
    )
    (links / "reference.py").symlink_to(course_folder / "reference" / f"{tiny.NAME}.py")
    (links / "submission_secret.txt").symlink_to(course_folder / "reference" / f"{tiny.NAME}.py")
    os.mkfifo(links / "pipe")
    student("stops elsewhere").answer(my_sigmoid="undefined_name").hand_in(course_folder)
    (links / "timestamp.txt").write_text("not a date")
    start = student("start-up").perfect().hand_in(course_folder) / "profile_default" / "startup"
    start.mkdir(parents=True)
    (start / "0.py").write_text("import os; os._exit(0)")
    (student("own variants").perfect().hand_in(course_folder) / "variants.py").mkdir()
    odd = student("odd metadata").perfect()
    data = json.loads(nbformat.writes(odd.nb))
    data["cells"][0]["metadata"]["nbgrader"] = None
    data["cells"][1]["id"] = 7
    odd.hand_in(course_folder, text=json.dumps(data))
    student(".hidden").perfect().hand_in(course_folder)
    student("stops by hand").perfect().answer(dot="dot = ...\ndot = undefined_name + 1").hand_in(
        course_folder
    )
    compares = student("compares").perfect()
    compares["q2"].source += (
        "\nfrom plainformer.activations import softmax as lib\nprint(lib(np.ones(3)) -"
        " my_softmax(np.ones(3)))"
    )
    compares.hand_in(course_folder)
    student("importer").perfect().answer(
        my_softmax="    from plainformer.activations import softmax as s\n    return s(scores)"
    ).hand_in(course_folder)
    sly = (
        "    import importlib\n    return getattr(importlib.import_module('plainformer.' + 'activations'),"
        " 'soft' + 'max')(scores)"
    )
    student("sly importer").perfect().answer(my_softmax=sly).hand_in(course_folder)
    student("allowed importer").perfect().add(
        "from plainformer.activations import softmax\nsoftmax(np.ones(3))"
    ).hand_in(course_folder)


@pytest.fixture(scope="module")
def cluster(boxed, tiny_course):
    """The address of three workers, the same for all gradings here: each takes seconds to start."""
    settings = dict(processes=True, memory_limit=None, dashboard_address=None, silence_logs="ERROR")
    with LocalCluster(n_workers=3, threads_per_worker=1, **settings) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def graded(cluster, tiny_course, released, tmp_path_factory):
    """Rows of the marks by student, after one grading of everything, in which one worker was killed."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    hand_in_everything(tiny_course, released, elsewhere)
    before = (
        snapshot(tiny_course / "submitted"),
        snapshot(tiny_course / "source"),
        snapshot(tiny_course / "reference"),
    )
    stop, killed = threading.Event(), []
    killer = threading.Thread(target=kill_a_worker, args=(stop, killed))
    killer.start()
    try:
        rows = grade(tiny.NAME, scheduler=cluster, limits=LIMITS, say=lambda text: None)
    finally:
        stop.set()
        killer.join()
    assert killed
    assert before == (
        snapshot(tiny_course / "submitted"),
        snapshot(tiny_course / "source"),
        snapshot(tiny_course / "reference"),
    )
    assert not list(elsewhere.iterdir())
    return {row.student: row for row in rows}


def machine(row):
    """The points of the questions that a machine marks."""
    return {name: score for name, score in row.scores.items() if name != "q4"}


def output(course_folder, student):
    """What the student's own cells printed, as the feedback has it."""
    nb = nbformat.read(
        course_folder / "autograded" / student / tiny.NAME / f"{tiny.NAME}.ipynb", as_version=4
    )
    return "".join(part.get("text", "") for cell in nb.cells for part in cell.get("outputs", []))


def test_nobody_is_left_out_although_a_worker_was_killed(graded, tiny_course):
    assert set(graded) == {path.name for path in (tiny_course / "submitted").iterdir()}
    errors = {row.student: row.error for row in graded.values() if row.error}
    assert errors.pop(".hidden").startswith("the folder's name begins with a dot")
    assert "more than one notebook: a.ipynb, b.ipynb" in errors.pop("two notebooks")
    assert "is not a notebook that can be read" in errors.pop("broken file")
    assert "there is no notebook" in errors.pop("missing") and "there is no notebook" in errors.pop("linked")
    assert not errors
    assert not [
        path for path in (tiny_course / ".grading" / tiny.NAME).iterdir() if path.name.startswith(".")
    ]


@pytest.mark.parametrize(
    "student",
    [
        "perfect",
        "renamed",
        "stripped",
        "old format",
        "windows",
        ODD_NAME,
        "shouts",
        "script",
        "spy",
        "writer",
        "allowed importer",
        "sly importer",  # to refuse is a reminder, no wall
        "forged display",
        "remounter",
        "marked up",
        "links",
        "start-up",
        "own variants",
        "odd metadata",
        "compares",
    ],
)
def test_right_answers_get_all_points(graded, student):
    assert machine(graded[student]) == ALL, graded[student].messages
    assert graded[student].scores["q4"] is None and graded[student].waiting == ("q4",)


@pytest.mark.parametrize("student", ["stub", "edits tests"])
def test_no_answer_gets_no_point(graded, student):
    row = graded[student]
    assert row.scores == {"q1": 0, "q2": 0, "q3": 0, "q4": 0} and not row.waiting
    assert row.total == 0
    assert (
        all(message.startswith("not attempted") for message in row.messages.values())
        and len(row.messages) == 3
    )


def test_a_forger_gets_no_point(graded):
    forgers = ["forger", *(f"forged value {number}" for number in range(len(FORGED)))]
    for student in forgers:
        assert machine(graded[student]) == {"q1": 0, "q2": 0, "q3": 0}, graded[student].messages


def test_the_box_cannot_be_opened_from_inside(graded, tiny_course):
    assert "REMOUNT -1" in output(tiny_course, "remounter")
    assert "LINK none" in output(tiny_course, "links")


def test_a_cell_that_stopped_is_named_in_the_message(graded):
    assert "NameError: name 'undefined_name' is not defined" in graded["stops by hand"].messages["q1"]
    assert (
        "NameError" in graded["stops elsewhere"].messages["q3"]
        and "NameError" not in graded["stops elsewhere"].messages["q1"]
    )


@pytest.mark.parametrize("mistake", ["sums first", "only the first"])
def test_a_mistake_by_hand_is_named(graded, mistake):
    row = graded[f"q1 {mistake}"]
    assert machine(row) == ALL | {"q1": 0}
    assert row.messages["q1"].startswith(f"mistake. {mistake}: ")


@pytest.mark.parametrize("mistake", BODIES)
def test_a_mistake_in_a_function_is_named_and_what_is_right_counts(graded, mistake):
    row = graded[f"q2 {mistake}"]
    assert machine(row) == ALL | {
        "q2": {"overflow": 2.0, "wrong axis": 1.0}.get(mistake, 0.0)
    }  # in one row, the axes are one
    assert f"{mistake}: " in row.messages["q2"]
    assert "Lost for: " in row.messages["q2"]


def test_a_mended_function_with_a_mistake_is_named(graded):
    assert machine(graded["q3 no exponential"]) == ALL | {"q3": 0}
    assert "no exponential: The e is missing." in graded["q3 no exponential"].messages["q3"]


def test_zeros_of_the_right_shape_earn_nothing(graded):
    assert machine(graded["right by chance of shape"]) == ALL | {"q2": 0}


@pytest.mark.parametrize(
    ("student", "question", "words"),
    [
        ("loop in a function", "q2", f"more than {TIMEOUT} seconds"),
        ("loop that cannot be stopped", "q2", f"more than {TIMEOUT} seconds"),
        ("memory", "q2", "MemoryError"),
        ("memory bit by bit", "q1", "not attempted"),
        ("syntax", "q2", "defines no my_softmax"),
        ("exits", "q1", "not attempted"),
        ("exits in a function", "q2", "ended the Python process"),
        ("quits", "q1", "not attempted"),
        ("stops by hand", "q1", "not attempted"),
        ("importer", "q2", "uses plainformer.activations.softmax, which this question refuses"),
        ("copied", "q1", "STUDENT = 'perfect'"),
    ],
)
def test_what_goes_wrong_in_one_question_costs_that_one_only(graded, student, question, words):
    row = graded[student]
    assert machine(row) == ALL | {question: 0}, row.messages
    assert words in row.messages[question]
    assert list(row.messages) == [question]


def test_an_endless_cell_is_stopped_and_what_came_before_counts(graded):
    assert machine(graded["loop in a cell"]) == ALL  # the function above the loop is defined


def test_a_deleted_answer_is_not_attempted_and_deleted_tests_come_back(graded):
    assert machine(graded["deletes tests"]) == ALL | {"q3": 0}
    assert graded["deletes tests"].messages["q3"].startswith("not attempted")


def test_without_a_student_id_the_numbers_are_still_the_students_own(graded):
    row = graded["nobody"]
    assert machine(row) == ALL | {"q1": 0}
    assert row.notes == ("STUDENT is not filled in",)


def test_odd_submissions_have_a_note(graded):
    assert "was taken for it" in graded["renamed"].notes[0]
    assert "STUDENT = 'perfect'" in graded["copied"].notes[0]
    assert graded["perfect"].notes == ()


def test_the_box_shows_no_solution_and_no_network(graded, tiny_course):
    assert "SEEN []" in output(tiny_course, "spy")


def test_the_box_lets_nothing_be_written_elsewhere(graded, tiny_course):
    for folder in (tiny_course, Path.home(), course.ROOT, Path("/tmp"), Path("/var/tmp"), Path("/usr/local")):
        assert not (folder / "intruder.txt").exists()
    assert "WROTE" in output(tiny_course, "writer")


def test_long_output_is_cut_and_scripts_are_left_out(graded, tiny_course):
    assert len(output(tiny_course, "shouts")) < 200_000
    for student in ("script", "shouts", "forged display", "marked up"):
        page = (tiny_course / "feedback" / student / tiny.NAME / f"{tiny.NAME}.html").read_text(
            encoding="utf-8"
        )
        assert "<script>alert(1)" not in page and "<img src" not in page and len(page) < 1_000_000


def test_feedback_shows_points_and_the_mistake_but_no_solution(graded, tiny_course):
    page = (tiny_course / "feedback" / "q2 overflow" / tiny.NAME / f"{tiny.NAME}.html").read_text(
        encoding="utf-8"
    )
    assert "2 of 3 points" in page and "Subtract the maximum first." in page
    given_back = [
        path
        for folder in ("feedback", "autograded")
        for path in (tiny_course / folder).rglob("*")
        if path.is_file()
    ]
    assert len(given_back) > 100
    for path in given_back:
        assert tiny.CANARY.encode() not in path.read_bytes(), path


def test_totals_add_up_and_every_export_reads_back(graded, tiny_course):
    dist = tiny_course.parent / "dist"

    def table(kind):
        with (dist / f"{kind}-{tiny.NAME}.csv").open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    marks = {line["student"]: line for line in table("marks")}
    assert set(marks) == set(graded)
    for student, row in graded.items():
        line = marks[student]
        if row.error:
            assert line["total"] == "" and line["status"].startswith("not graded")
            continue
        assert float(line["total"]) == row.total == sum(float(line[name] or 0) for name in row.scores)
        assert line["of"] == "8"
    own = {line["student_id"]: float(line["score"]) for line in table("nbgrader")}
    assert own == {student: row.total for student, row in graded.items() if not row.error}
    canvas = table("canvas")
    assert canvas[0]["A tiny assignment"] == "8" and canvas[0]["Student"].strip() == "Points Possible"
    assert {line["SIS Login ID"]: float(line["A tiny assignment"]) for line in canvas[1:]} == own
    assert {line["username"]: float(line["A tiny assignment"]) for line in table("moodle")} == own
    with gradebook.opened() as book:
        assert {student: book.find_submission(tiny.NAME, student).score for student in own} == own


def test_the_class_report_counts_the_mistakes(graded, tiny_course):
    page = (tiny_course.parent / "dist" / f"report-{tiny.NAME}.html").read_text(encoding="utf-8")
    assert "Subtract the maximum first." in page and "sums first" in page
    assert f"{len(graded)} submissions" in page and "<script" not in page


def test_a_second_grading_does_nothing_again_but_sees_a_persons_marks(graded, cluster, tiny_course):
    kept = {path: path.stat().st_mtime_ns for path in (tiny_course / ".grading").rglob("result.json")}
    with gradebook.opened() as book:
        book.find_grade("q4", tiny.NAME, tiny.NAME, "perfect").manual_score = 0.5
        book.find_grade("q4", tiny.NAME, tiny.NAME, "perfect").needs_manual_grade = False
        book.db.commit()
    rows = {
        row.student: row for row in grade(tiny.NAME, scheduler=cluster, limits=LIMITS, say=lambda text: None)
    }
    assert kept == {path: path.stat().st_mtime_ns for path in (tiny_course / ".grading").rglob("result.json")}
    assert rows["perfect"].total == 7.5 and rows["perfect"].waiting == ()
    page = (tiny_course / "feedback" / "perfect" / tiny.NAME / f"{tiny.NAME}.html").read_text(
        encoding="utf-8"
    )
    assert "7.5 / 8.0" in page


def test_a_persons_marks_survive_a_new_grading(graded, cluster, tiny_course):
    with gradebook.opened() as book:
        grade_of = book.find_grade("q4", tiny.NAME, tiny.NAME, "renamed")
        grade_of.manual_score, grade_of.needs_manual_grade = 1.0, False
        book.db.commit()
    aside = tiny_course / "aside"
    (tiny_course / "submitted").rename(aside)
    (tiny_course / "submitted").mkdir()
    (aside / "renamed").rename(tiny_course / "submitted" / "renamed")
    row = grade(tiny.NAME, scheduler=cluster, again=True, limits=LIMITS, say=lambda text: None)[0]
    assert row.total == 8 and row.waiting == ()
    with gradebook.opened() as book:
        assert not book.find_grade("q4", tiny.NAME, tiny.NAME, "renamed").needs_manual_grade
    (tiny_course / "submitted" / "renamed" / tiny.NAME / "more.txt").write_text("the same answer")
    rows = grade(tiny.NAME, scheduler=cluster, limits=LIMITS, say=lambda text: None)
    assert rows[0].waiting == ()


def test_points_that_differ_between_the_places_stop_the_grading(tiny_course, released):
    from plaingrader.release import consistent

    path = tiny_course / "source" / tiny.NAME / f"{tiny.NAME}.ipynb"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"points": 3', '"points": 5'), encoding="utf-8")
    with pytest.raises(
        ValueError, match="q2: 3 points in the map, 5 points in the notebook, 3.* points in the reference"
    ):
        consistent(tiny.NAME)
    path.write_text(text, encoding="utf-8")
