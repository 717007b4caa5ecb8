"""The student's bundle: the notebook without solutions, the packages, a README, a zip with its checksum."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
from nbgrader.apps import NbGraderAPI

from plaincourse.assigned.codec import encode
from plaincourse.exercises import Mistake

from . import course
from .jobs import settings
from .questions import questions

VISIBLE_SEED = 0
PACKAGES = ("plainformer", "plaincourse")


def release(name):
    """Make ``dist/NAME-student.zip`` and its checksum, and tell nbgrader's gradebook of the assignment. The
    path of the zip.
    """
    assignment = course.find(name)
    follow_map(name)
    consistent(name)
    handed_out = assign(name)
    with tempfile.TemporaryDirectory() as place:
        bundle = Path(place) / name
        shutil.copytree(
            handed_out, bundle, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        )
        (bundle / "README.md").write_text(readme(assignment), encoding="utf-8")
        wheel(bundle)
        return packed(bundle, course.dist() / f"{name}-student.zip")


def follow_map(name):
    """Write the map's points into the assignment's notebook, where a question says them: its cells, its
    heading.

    So the map is the one place for points. A notebook that says them already is not touched.
    """
    path = course.folder() / "source" / name / f"{name}.ipynb"
    text = path.read_text(encoding="utf-8")
    nb = nbformat.reads(text, as_version=4)
    points = {item.name: item.points for item in course.find(name).items}
    for cell in nb.cells:
        about = cell.metadata.get("nbgrader", {})
        question = points.get(str(about.get("grade_id", "")).partition("-")[0])
        if question is None:
            continue
        if about.get("grade"):
            about["points"] = question
        elif cell.cell_type == "markdown":
            cell.source = re.sub(r"\([\d.]+ points?, ", f"({question:g} points, ", cell.source, count=1)
    if nb != nbformat.reads(text, as_version=4):
        nbformat.write(nb, path)


def consistent(name):
    """ValueError unless the map, the notebook and the grader give the same points to the same questions."""
    nb = nbformat.read(course.folder() / "source" / name / f"{name}.ipynb", as_version=4)
    cells = [cell.metadata.get("nbgrader", {}) for cell in nb.cells]
    notebook = {cell["grade_id"].removesuffix("-test"): cell["points"] for cell in cells if cell.get("grade")}
    listed = {item.name: item.points for item in course.find(name).items}
    graded = {question.name: question.points for question in questions(name).values()}
    for key in sorted(notebook.keys() | listed.keys() | graded.keys()):
        points = {"the map": listed.get(key), "the notebook": notebook.get(key)} | (
            {"the reference": graded[key]} if key in graded else {}
        )
        if len(set(points.values())) > 1:
            raise ValueError(
                f"{name}, {key}: "
                + ", ".join(f"{value} points in {place}" for place, value in points.items())
            )


def assign(name):
    """nbgrader's generate_assignment: the folder with the released notebook."""
    write_visible(name)
    outcome = NbGraderAPI(config=settings(course.folder())).generate_assignment(name)
    if not outcome["success"]:
        raise RuntimeError(
            "nbgrader could not make the assignment"
            f" {name}:\n{outcome.get('error', '')}{outcome.get('log', '')}"
        )
    return course.folder() / "release" / name


def write_visible(name):
    """The visible checks: cases, right results and known mistakes' results as values, without a line that
    computes them.
    """
    path = course.folder() / "source" / name / "visible.json"
    path.write_text(
        json.dumps({key: visible(question) for key, question in questions(name).items()}),
        encoding="utf-8",
        newline="\n",
    )


def visible(question):
    """What the check under a question may know: of a value worked by hand its shape only, the rest is the
    student's own.
    """
    about = {
        "name": question.name,
        "title": question.title,
        "argument_names": question.argument_names,
        "tolerance": question.tolerance,
        "by_hand": question.by_hand,
        "refuses": bool(question.refuse),
    }
    if question.by_hand:
        return about | {"cases": [], "expected": form(question), "mistakes": []}
    expected = results(question, question.reference)
    wrong = [*as_handed_out(question), *question.mistakes]
    mistakes = [
        {"name": mistake.name, "sentence": mistake.sentence, "results": results(question, mistake.answer)}
        for mistake in wrong
    ]
    cases = [encode(case) for case in question.inputs(VISIBLE_SEED)]
    return about | {"cases": cases, "expected": expected, "mistakes": mistakes}


def as_handed_out(question):
    """That nobody has touched the function to be mended, as a known mistake."""
    sentence = "The function still does what it did when it was handed out."
    return [Mistake("as handed out", sentence, question.handed_out)] if question.handed_out else []


def form(question):
    """The shape of a value worked by hand, with None for a length that differs between students."""
    shapes = [np.shape(question.outputs(question.reference, number)[0]) for number in range(50)]
    return [lengths[0] if len(set(lengths)) == 1 else None for lengths in zip(*shapes, strict=True)]


def results(question, function):
    return [encode(value) for value in question.outputs(function, VISIBLE_SEED)]


def wheel(bundle):
    """Put the wheel of what students get into the bundle."""
    name, data = built()
    (bundle / name).write_bytes(data)


@cache
def built():
    """The name and the bytes of the wheel: the two packages, not the grader."""
    with tempfile.TemporaryDirectory() as place:
        place, out = Path(place) / "source", Path(place) / "out"
        place.mkdir()
        for file in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-text"):
            shutil.copy(course.ROOT / file, place)
        for package in PACKAGES:
            shutil.copytree(
                course.ROOT / "src" / package,
                place / "src" / package,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--wheel-dir",
            str(out),
            str(place),
        ]
        subprocess.run(command, check=True)
        path = next(out.glob("*.whl"))
        return path.name, path.read_bytes()


def packed(bundle, path):
    """The zip, byte for byte the same for the same files, beside it its SHA-256."""
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_suffix(".part")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(file for file in bundle.rglob("*") if file.is_file()):
            entry = zipfile.ZipInfo(
                str(Path(bundle.name) / file.relative_to(bundle)), date_time=(2020, 1, 1, 0, 0, 0)
            )
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
    fresh.replace(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(path.name + ".sha256").write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    return path


def readme(assignment):
    """What the student reads first."""
    return f"""\
# {assignment.title}

{len(assignment.items)} questions, {assignment.points:g} points, about {assignment.minutes} minutes.

1. With Python 3.11 or newer, in this folder:

       python -m venv .venv
       .venv/bin/python -m pip install "./{built()[0]}[notebooks]" jupyterlab
       .venv/bin/jupyter lab {assignment.name}.ipynb

   On Windows: `.venv\\Scripts\\python` and `.venv\\Scripts\\jupyter`. On Linux, a small PyTorch without CUDA:
   put `PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu` before the second command.
   Did you install for an earlier assignment? Use that folder's `.venv` again. It needs no more than this
   wheel, without what it depends on:

       ../EARLIER/.venv/bin/python -m pip install --force-reinstall --no-deps "./{built()[0]}"
       ../EARLIER/.venv/bin/jupyter lab {assignment.name}.ipynb
2. Write your student id between the quotes after `STUDENT`, in the first code cell. Your numbers depend on
   it.
3. Answer from top to bottom, in the cells that say so. The check under a question shows at once what it can.
   The marks come from other inputs.
4. *Kernel → Restart Kernel and Run All Cells* once more, save, and hand in `{assignment.name}.ipynb` under
   this name.

Leave the locked cells as they are: they are put back before grading. Where a question asks you to write a
function of the library, your answer may not use it.
"""
