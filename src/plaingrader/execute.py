"""nbgrader's Execute, with the student's code in the sandbox and the marks made outside it.

The student's cells run in a kernel in the box. A test cell is not run: the kernel is asked what the answer
gives for hidden cases, and this process compares that with the reference.
"""

import dataclasses
import json
import tempfile
import time
from pathlib import Path
from subprocess import DEVNULL

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, CellTimeoutError, DeadKernelError
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade, is_solution
from traitlets import Integer, Unicode

from plaincourse.assigned.codec import encode

from . import course, harmless, marks, sandbox, submission
from .questions import questions
from .refused import refused_use

DATA = "application/vnd.plaincourse+json"
HARMLESS = ("text/plain", "image/png")  # what feedback shows of a student's output: HTML could carry a script
TIMED_OUT = "CellTimeoutError"


class Judge(Execute):
    """Runs a submission and puts the verdict and the points of each question into its test cell."""

    timeout = Integer(20, help="seconds for one cell, and for one question's hidden cases").tag(config=True)
    budget = Integer(180, help="seconds for one submission").tag(config=True)
    memory = Integer(4_000_000_000, help="bytes of address space of the student's process").tag(config=True)
    output_limit = Integer(100_000, help="bytes of one cell's output that are kept").tag(config=True)
    data_limit = Integer(20_000_000, help="bytes of one answer's results").tag(config=True)
    startup_timeout = 60
    student = Unicode("", help="the student's id, if the folder's name is not it").tag(config=True)
    shutdown_kernel = "immediate"
    asking = False  # whether the cell that runs is the grader's own question

    def preprocess(self, nb, resources, km=None):
        """Run all cells; where the kernel ends or hangs, once more without the cell that did it."""
        about = resources["nbgrader"]
        self.assignment, self.who = about["assignment"], self.student or about["student"]
        self.questions = questions(self.assignment)
        self.deadline = time.monotonic() + self.budget
        lost = {}
        with tempfile.TemporaryDirectory(prefix="box", ignore_cleanup_errors=True) as box:
            while not self.attempt(nb, resources, Path(box), lost):
                pass
            sandbox.emptied(Path(box))
        return nb, resources

    def attempt(self, nb, resources, box, lost):
        """Run the notebook in a fresh box. False if a cell, now in ``lost`` with the reason, took the
        kernel with it.
        """
        desk = sandbox.lay_out(box, Path(resources["metadata"]["path"]))
        NotebookClient.__init__(self, nb)  # as nbconvert does for every notebook
        self.box, self.sources, self.errors = box, submission.own_sources(nb), {}
        self.reset_execution_trackers()
        self.timeout_func = lambda cell: max(1, min(self.timeout, int(self.deadline - time.monotonic())))
        with self.setup_kernel(cwd=str(desk), env=sandbox.environment(box), stdout=DEVNULL, stderr=DEVNULL):
            self.ask(PREPARE)
            return self.all_cells(nb, lost)

    def all_cells(self, nb, lost):
        """Run and mark the cells in order. False if one of them, now in ``lost``, took the kernel with it."""
        for index, cell in enumerate(nb.cells):
            reason = lost.get(index) or (
                time.monotonic() > self.deadline and f"The notebook used up its {self.budget} seconds."
            )
            try:
                self.cell(cell, index, reason)
            except (DeadKernelError, CellTimeoutError) as error:
                lost[index] = told(error, self.timeout)
                return False
        return True

    def cell(self, cell, index, reason):
        """Run or mark one cell, or say why not. DeadKernelError or CellTimeoutError if the kernel is lost."""
        if cell.cell_type != "code":
            return
        if is_grade(cell) and not is_solution(cell):
            self.mark(cell, index, reason)
        elif reason:
            cell.outputs = [new_output("error", ename="Stopped", evalue=reason, traceback=[reason])]
        else:
            self.execute_cell(cell, index, store_history=True)
            harmless.checked(cell)
            if errors(cell):
                self.errors[cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell {index}"] = errors(
                    cell
                )
            self.still_there(cell)

    def still_there(self, cell):
        """After a time-out: CellTimeoutError unless the interrupt has freed the kernel."""
        if timed_out(cell) and timed_out(self.ask("pass")):
            raise CellTimeoutError("the kernel does not answer")

    def ask(self, code):
        """The cell of this code, executed: what the grader itself wants of the kernel."""
        self.nb.cells.append(new_code_cell(code))  # nbclient puts the executed cell back into the notebook
        self.asking = True
        try:
            return self.execute_cell(self.nb.cells[-1], len(self.nb.cells) - 1, store_history=False)
        finally:
            self.asking = False
            self.nb.cells.pop()

    def mark(self, cell, index, reason):
        """Put the verdict and the points into the question's test cell."""
        question = self.questions[cell.metadata.nbgrader["grade_id"].removesuffix("-test")]
        made = marks.none(question, "stopped", reason) if reason else self.made(question)
        if question.by_hand and made.status != "right":
            made = submission.other_students(made, self.sources, self.who)
        html, text = made.verdict._repr_html_(), repr(made.verdict)
        shown = new_output(
            "display_data", {"text/html": html, "text/plain": text}, metadata={"plaincourse": made.as_dict()}
        )
        points = new_output(
            "execute_result", {"text/plain": repr(float(made.points))}, execution_count=index + 1
        )
        cell.outputs, cell.execution_count = [shown, points], index + 1

    def made(self, question):
        """The Mark of a question, from what its answer gives in the kernel."""
        name = refused_use(question.answer, self.sources.values(), question.refuse)
        if name:
            return marks.none(
                question,
                "refused",
                f"Your answer uses {name}, which this question refuses: it is for you to write.",
            )
        cases = marks.groups(question, self.who, self.assignment)
        encoded = [[encode(case) for case in group] for group in cases]
        asked = json.dumps([question.answer, question.by_hand, question.argument_names, encoded])
        cell = self.ask(ASK.format(asked=asked, kind=DATA))
        self.still_there(cell)
        data = [output.data[DATA] for output in cell.outputs if DATA in output.get("data", {})]
        if timed_out(cell):
            return marks.none(
                question,
                "stopped",
                f"Your answer ran for more than {self.timeout} seconds. Is there an endless loop?",
            )
        if len(data) != 1 or not isinstance(data[0], list):
            return marks.none(
                question, "error", f"Your answer's results did not arrive. {errors(cell)}".strip()
            )
        return self.explained(marks.mark(question, cases, data[0]))

    def explained(self, mark):
        """The Mark of what was not attempted, with the error that kept it from being there, if there was
        one.
        """
        if mark.status != "not attempted":
            return mark
        reasons = [
            self.errors[name]
            for name in (mark.question, f"{mark.question}-numbers", "sheet")
            if name in self.errors
        ]
        return dataclasses.replace(mark, message="\n".join([mark.message, *reasons[:1]]))

    def create_kernel_manager(self):
        """A kernel in the box."""
        self.km = sandbox.manager(self.box, self.memory, self.budget)
        return self.km

    def process_message(self, msg, cell, cell_index):
        """nbclient's, but a message that no honest kernel sends is dropped."""
        try:
            return super().process_message(msg, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:
            return None

    def output(self, outs, msg, display_id, cell_index):
        """Keep what is harmless and not too long; of the answer to the grader's own question, the data
        alone.
        """
        content = msg["content"]
        if "data" in content:
            kinds = (DATA,) if self.asking else HARMLESS
            content["data"] = {kind: value for kind, value in content["data"].items() if kind in kinds}
            content["metadata"] = {}
            if not content["data"]:
                return None
        elif self.asking and msg["msg_type"] != "error":
            return None
        if "traceback" in content:  # without the paths of the grader's machine
            content["traceback"] = [line.replace(f"{course.ROOT}/", "") for line in content["traceback"]]
        size = sum(len(str(output)) for output in outs) + len(str(content))
        if size > (self.data_limit if self.asking else self.output_limit):
            if not (outs and outs[-1].get("text") == CUT):
                outs.append(new_output("stream", name="stderr", text=CUT))
            return None
        return super().output(outs, msg, display_id, cell_index)

    def _update_display_id(self, display_id, msg):
        """What was shown stays as it was: an update would go round the above."""

    def handle_comm_msg(self, outs, msg, cell_index):
        """Widgets have nobody to talk to here."""


CUT = "\n(There was more output than feedback can show.)\n"
# What the kernel is asked to do; the functions are beside the student's code, the grader's own are not there.
PREPARE = '__import__("plaincourse.assigned.answers", fromlist=["prepare"]).prepare(get_ipython())'
ASK = '__import__("plaincourse.assigned.answers", fromlist=["show"]).show(globals(), {asked!r}, {kind!r})'


def timed_out(cell):
    """Whether the cell was stopped for its time."""
    return any(output.output_type == "error" and output.ename == TIMED_OUT for output in cell.outputs)


def errors(cell):
    """The first error of a cell, in a line, or an empty text."""
    found = [output for output in cell.outputs if output.output_type == "error"]
    return f"The cell stopped with {found[0].ename}: {found[0].evalue}"[:300] if found else ""


def told(error, timeout):
    """Why a cell is left out when the notebook runs again."""
    if isinstance(error, DeadKernelError):
        return (
            "This cell ended the Python process (it left it, or took more memory or time than there is). The"
            " others were run without it."
        )
    return (
        f"This cell ran for more than {timeout} seconds and could not be interrupted. The others were run"
        " without it."
    )
