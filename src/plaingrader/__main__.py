"""The instructor's commands:  python -m plaingrader release 04_mlp, and collect, and grade."""

import argparse
import sys

from . import course


def arguments(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m plaingrader", description="Release and grade the assignments of the course."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    release = commands.add_parser("release", help="make the student's bundle, dist/NAME-student.zip")
    grade = commands.add_parser(
        "grade", help="grade assignments/submitted/<student>/NAME, and write marks and reports to dist/"
    )
    collect = commands.add_parser(
        "collect", help="sort what a learning platform gave into assignments/submitted"
    )
    collect.add_argument("--from", dest="source", required=True, metavar="FROM", help="its folder or its zip")
    for command in (release, collect, grade):
        command.add_argument("assignment", metavar="NAME", help=f"one of {', '.join(course.assignments())}")
    grade.add_argument("--workers", type=positive, help="how many at once (default: one a processor)")
    grade.add_argument(
        "--scheduler", help="the address of a Dask cluster that sees this folder, such as tcp://host:8786"
    )
    grade.add_argument("--again", action="store_true", help="grade anew what is already graded")
    grade.add_argument(
        "--timeout", type=positive, default=20, help="seconds for one cell (default: %(default)s)"
    )
    grade.add_argument(
        "--budget", type=positive, default=180, help="seconds for one submission (default: %(default)s)"
    )
    grade.add_argument(
        "--memory", type=positive, default=4000, help="megabytes for one submission (default: %(default)s)"
    )
    return parser.parse_args(argv)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return number


def main(argv=None):
    options = arguments(argv)
    options.assignment = options.assignment.rstrip("/")  # as a shell completes it
    try:
        course.find(options.assignment)
        return {"release": run_release, "collect": run_collect, "grade": run_grade}[options.command](options)
    except (KeyError, ValueError, OSError) as error:
        print(f"plaingrader: {error.args[-1] if isinstance(error, KeyError) else error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        return 130


def run_release(options):
    from .release import release

    path = release(options.assignment)
    print(f"{path}\n{path}.sha256")
    return 0


def run_collect(options):
    from .collect import collect

    lines, unknown = collect(options.assignment, options.source)
    print("\n".join(lines))
    if unknown:
        print(f"{unknown} of the files above belong to nobody yet", file=sys.stderr)
    return 1 if unknown else 0


def run_grade(options):
    from . import roster, sandbox
    from .grade import grade

    if sandbox.isolation() != "full":
        print(
            "Without bubblewrap the students' code can read your files and reach the network:"
            " see For instructors, Safety.",
            file=sys.stderr,
        )
    limits = (
        ("timeout", options.timeout),
        ("budget", options.budget),
        ("memory", options.memory * 1_000_000),
    )
    rows = grade(options.assignment, options.workers, options.scheduler, options.again, limits)
    missing = [row.student for row in rows if row.error == roster.NOT_HANDED_IN]
    failed = [row for row in rows if row.error and row.error != roster.NOT_HANDED_IN]
    done = len(rows) - len(failed) - len(missing)
    print(f"{done} graded; marks, exports and the class report are in {course.dist()}")
    if missing:
        print(f"Not handed in: {', '.join(missing)}")
    waiting = sum(bool(row.waiting) for row in rows)
    if waiting:
        print(
            f"{waiting} have a written answer that waits for a person and counts nothing until then: mark it"
            " before you pass the marks on"
        )
    if failed:
        print("Not graded, and tried again next time:", file=sys.stderr)
        for row in failed:
            print(f"  {row.student}: {row.error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
