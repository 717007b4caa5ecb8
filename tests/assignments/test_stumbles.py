"""Nothing that stands in a submission, or that its kernel says, stops the grading of it: it ends at the
first run.
"""

import contextlib
import json
import time

import nbformat
import pytest
import tiny_course as tiny
from alone import grade_alone

from plaingrader import sandbox
from plaingrader.grade import last_line
from plaingrader.refused import LONGEST, refused_use

NAME = tiny.NAME
SAY = """
from IPython import get_ipython
shell = get_ipython()
def say(kind, **content):
    kernel = shell.kernel
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent("shell"),
                        ident=kernel._topic(kind))
say("execute_input", code="x", execution_count="<img src=x>")
say("execute_result", data={"text/plain": 7, "image/png": ["x"]}, metadata={}, execution_count={"a": 1})
say("stream", name="<b>", text=17)
say("error", ename=1, evalue=[2], traceback="x")
print("half a character: \\ud800")
"""
SCRATCH = """
import os
try:
    for number in range(10):
        with open(f"/tmp/{number}", "wb") as file:
            file.write(bytes(50_000_000))
    print("FILLED")
except OSError as error:
    print("FULL", error.errno)
"""
LOCK = "import os\nos.makedirs('locked/inside')\nopen('locked/inside/x', 'w').close()\nos.chmod('locked', 0)"


@pytest.fixture(scope="module")
def rows(boxed, tiny_course, released):
    """Everything graded once."""

    def student(name):
        return tiny.Submission(released, name).perfect()

    beside = student("beside").hand_in(tiny_course)
    for name in ("home", "kernel.json", "desk", "socket-1"):
        (beside / name).mkdir()
    (beside / ".home").write_text("x")
    (beside / "ipykernel_launcher.py").write_text("import time; time.sleep(99)")
    shadow = (
        student("shadow")
        .add("import helper\nassert helper.answer == 42\nprint('HELPED')")
        .hand_in(tiny_course)
    )
    (shadow / "zmq.py").write_text("raise SystemExit")
    (shadow / "plaincourse.py").write_text("import os; os._exit(1)")
    (shadow / "helper.py").write_text("answer = 42")
    student("says").add(SAY).add(LOCK).add(SCRATCH).hand_in(tiny_course)
    student("long").add("x = [" + "1, " * 100_000 + "]").hand_in(tiny_course)
    listed = tiny.RIGHT["my_softmax"].replace(
        "return e / e.sum(-1, keepdims=True)", "return (e / e.sum(-1, keepdims=True)).tolist()"
    )
    student("list").answer(my_softmax=listed).hand_in(tiny_course)
    single = tiny.RIGHT["my_softmax"].replace(
        "return e / e.sum(-1, keepdims=True)", "return np.float32(e / e.sum(-1, keepdims=True))"
    )
    student("single").answer(my_softmax=single).hand_in(tiny_course)
    start = time.monotonic()
    rows = grade_alone(limits=(("timeout", 10), ("budget", 60)))
    assert time.monotonic() - start < 200
    return rows


@pytest.mark.parametrize("student", ["beside", "shadow", "says", "long", "list", "single"])
def test_it_is_graded_at_the_first_run(rows, student):
    row = rows[student]
    assert (row.error, row.total, row.waiting) == ("", 7, ("q4",)), row.messages


def test_what_the_kernel_says_is_checked(rows, tiny_course):
    copy = nbformat.read(tiny_course / "autograded/says" / NAME / f"{NAME}.ipynb", as_version=4)
    nbformat.validate(copy)
    cell = next(cell for cell in copy.cells if "def say" in cell.source)
    assert cell.execution_count is None and {output.output_type for output in cell.outputs} <= {
        "stream",
        "error",
    }
    text = json.dumps(copy)
    assert "HELPED" in (tiny_course / "autograded/shadow" / NAME / f"{NAME}.ipynb").read_text(
        encoding="utf-8"
    )
    assert "FULL 28" in text, "the box's /tmp has an end"


def test_the_box_is_emptied_whatever_is_locked(tmp_path):
    (tmp_path / "locked/inside").mkdir(parents=True)
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "locked").chmod(0)
    sandbox.emptied(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_long_source_is_not_parsed():
    start = time.monotonic()
    assert (
        refused_use("f", ["def f(): return " + ".a" * 10**6, "x" * (LONGEST + 1)], ("plainformer.a.b",))
        is None
    )
    assert (
        refused_use("f", ["import plainformer\ndef f(x):\n    return x" + ".a" * 8000], ("plainformer.a.b",))
        is None
    )
    assert time.monotonic() - start < 2


def test_an_error_of_the_system_has_its_message():
    assert last_line(OSError(28, "No space left on device")) == "OSError: [Errno 28] No space left on device"
    for log in ("[AutogradeApp | ERROR] x", "[ERROR] x"):
        error = RuntimeError(f"{log}\nValueError: bad\n{log}")
        assert last_line(error) == "RuntimeError: ValueError: bad"


def test_nothing_listens_beyond_this_machine(tmp_path):
    import psutil

    from plaingrader.grade import engine

    with engine(1, None, 1) as client:
        client.submit(sum, [1]).result()
        family = [psutil.Process(), *psutil.Process().children(recursive=True)]
        heard = []
        for process in family:
            with contextlib.suppress(psutil.Error):
                heard += [
                    one.laddr.ip for one in process.net_connections() if one.status == psutil.CONN_LISTEN
                ]
    assert heard and set(heard) <= {"127.0.0.1", "::1"}
