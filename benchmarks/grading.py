"""How fast a class is graded: in parallel with make grade's engine, one worker killed in the middle, beside
plain nbgrader.

    python benchmarks/grading.py                    500 submissions in parallel, 20 of them with nbgrader
    autograde alone python benchmarks/grading.py --students 50 --plain 5

A throw-away course; needs requirements-instructor.txt. One table; the ratio is of one run.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
NAME = "04_mlp"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--students", type=int, default=500)
    parser.add_argument("--plain", type=int, default=20, help="submissions for nbgrader autograde alone")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    return parser.parse_args()


def lay_out(root, count):
    """A course with this many submissions: right answers and untouched notebooks by turns."""
    ignore = shutil.ignore_patterns(
        "submitted", ".grading", "autograded", "feedback", "release", "gradebook.db*"
    )
    shutil.copytree(ROOT / "assignments", root, ignore=ignore)
    from plaingrader.release import assign

    notebooks = [root / "source" / NAME / f"{NAME}.ipynb", assign(NAME) / f"{NAME}.ipynb"]
    for number in range(count):
        nb = nbformat.read(notebooks[number % 2], as_version=4)
        for cell in nb.cells:
            cell.source = cell.source.replace('STUDENT = ""', f'STUDENT = "student{number:03}"')
        folder = root / "submitted" / f"student{number:03}" / NAME
        folder.mkdir(parents=True)
        nbformat.write(nb, folder / f"{NAME}.ipynb")


def kill_one(root, after):
    """Kill a worker once so many results are there."""
    import psutil

    while len(list((root / ".grading").glob("*/*/result.json"))) < after:
        time.sleep(0.2)
    workers = [
        process
        for process in psutil.Process().children(recursive=True)
        if "spawn_main" in " ".join(process.cmdline()) and process.children()
    ]
    if workers:
        workers[0].send_signal(signal.SIGKILL)
        print(f"killed worker {workers[0].pid} after {after} results")


def parallel(root, workers, students):
    """Seconds for the whole class, and how many came through with the marks they should have."""
    from plaingrader.grade import grade

    threading.Thread(target=kill_one, args=(root, students // 3), daemon=True).start()
    start = time.perf_counter()
    rows = grade(NAME, workers=workers)
    elapsed = time.perf_counter() - start
    most = max(row.raw for row in rows)
    right = sum(not row.error and row.raw == (0 if int(row.student[-3:]) % 2 else most) for row in rows)
    return elapsed, right


def plain(root, count):
    """Seconds of one nbgrader autograde over so many submissions, one after the other, with the course's
    settings.
    """
    students = sorted(path.name for path in (root / "submitted").iterdir())
    for name in students[count:]:
        shutil.rmtree(root / "submitted" / name)
    shutil.rmtree(root / "autograded")
    (root / "gradebook.db").unlink()
    from plaingrader.release import assign

    assign(NAME)
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    }
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "nbgrader", "autograde", NAME],
        cwd=root,
        env=environment,
        check=True,
        capture_output=True,
    )
    elapsed = time.perf_counter() - start
    assert len(list((root / "autograded").iterdir())) == count
    return elapsed


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "assignments"
        os.environ["PLAINGRADER_COURSE"] = str(root)
        lay_out(root, options.students)
        together, right = parallel(root, options.workers, options.students)
        alone = plain(root, options.plain)
    per_core = options.students / together / options.workers
    single = options.plain / alone
    print("\n| how | submissions | seconds | a second and core | ratio |\n|---|---|---|---|---|")
    print(
        f"| make grade, {options.workers} workers, one killed, feedback too | {options.students}, {right} of"
        f" them right | {together:.0f} | {per_core:.2f} | {per_core / single:.2f} |"
    )
    print(f"| nbgrader autograde, one after the other | {options.plain} | {alone:.0f} | {single:.2f} | 1 |")


if __name__ == "__main__":
    main()
