"""The class report: one page for the instructor, without a script and without another file."""

import io
from collections import Counter
from html import escape
from statistics import mean, median

import matplotlib
from matplotlib.figure import Figure

from . import export, roster, sandbox

POLICY = (
    """<meta http-equiv=Content-Security-Policy content="default-src 'none'; style-src 'unsafe-inline'">"""
)
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #8886; padding: .3rem .7rem; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
"""


def write(path, assignment, rows, results):
    """Distribution, per question, most common named mistakes, and what a person should look at."""
    marks = [mark for result in results for mark in result["marks"]]
    parts = [
        f"<h1>{escape(assignment.title)}</h1>",
        summary(assignment, rows),
        distribution(assignment, rows),
        "<h2>Question by question</h2>",
        questions(assignment, rows, marks),
        "<h2>Most common mistakes</h2>",
        mistakes(assignment, marks),
        "<h2>To look at</h2>",
        attention(rows),
    ]
    head = (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"{POLICY}<title>{escape(assignment.title)}</title>"
    )
    fresh = path.with_suffix(".part")
    fresh.write_text(f"{head}<style>{STYLE}</style><body>{''.join(parts)}\n", encoding="utf-8")
    fresh.replace(path)


def summary(assignment, rows):
    """How many, and the middle of them."""
    totals = [row.total for row in rows if not row.error]
    waiting = sum(bool(row.waiting) for row in rows)
    missing = sum(row.error == roster.NOT_HANDED_IN for row in rows)
    lines = [f"{len(rows) - missing} submissions, {len(totals)} graded, of {assignment.points:g} points."]
    if missing:
        lines.append(f"{missing} of the students in students.csv handed nothing in.")
    if totals:
        lines.append(
            f"Mean {mean(totals):.1f}, median {median(totals):.1f}, lowest {min(totals):g}, highest"
            f" {max(totals):g}."
        )
    if waiting:
        lines.append(
            f"{waiting} have a written answer that waits for a person, and counts nothing until then."
        )
    box = (
        "no network, nothing else to read or write"
        if sandbox.isolation() == "full"
        else "limits of time and memory only: bubblewrap is not there"
    )
    lines.append(f"The students' code ran in a box with {box}.")
    return "<p>" + "<br>".join(lines) + "</p>"


def distribution(assignment, rows):
    """A histogram of the totals as SVG."""
    totals = [row.total for row in rows if not row.error]
    if not totals:
        return ""
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.subplots()
    axes.hist(totals, bins=10, range=(0, assignment.points), color="#3b7dd8", edgecolor="white")
    axes.set(xlabel=f"points, of {assignment.points:g}", ylabel="students")
    axes.yaxis.get_major_locator().set_params(integer=True)
    for place, spine in axes.spines.items():
        spine.set_visible(place in ("left", "bottom"))
        spine.set_color("#808080")
    for item in (axes.xaxis, axes.yaxis):
        item.label.set_color("#808080")
    axes.tick_params(colors="#808080")
    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "report"}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    svg = file.getvalue()
    text = (
        f"Histogram of {len(totals)} totals from {min(totals):g} to {max(totals):g} of {assignment.points:g}"
        " points."
    )
    return svg[svg.index("<svg") :].replace("<svg", f'<svg role="img" aria-label="{text}"', 1)


def questions(assignment, rows, marks):
    """The table of questions: mean points, how many had all of them, none of them, and did not try."""
    lines = []
    for item in assignment.items:
        scores = [row.scores[item.name] for row in rows if row.scores[item.name] is not None]
        skipped = sum(mark["question"] == item.name and mark["status"] == "not attempted" for mark in marks)
        average = f"{mean(scores):.2f}" if scores else "–"
        full, nothing = sum(score >= item.points for score in scores), sum(score == 0 for score in scores)
        lines.append(
            [
                f"{item.name}: {item.title}",
                item.kind,
                average,
                f"{item.points:g}",
                full,
                nothing,
                skipped if item.kind != "written" else "–",
            ]
        )
    return table(
        ["question", "kind", "mean", "of", "all points", "no points", "not attempted"],
        lines,
        numbers=range(2, 7),
    )


def mistakes(assignment, marks):
    """The known mistakes by how many made them, each with the sentence that the students read."""
    counts = Counter((mark["question"], mark["mistake"]) for mark in marks if mark["mistake"])
    sentences = {
        (mark["question"], mark["mistake"]): mark["message"].split(f"{mark['mistake']}: ", 1)[-1]
        for mark in marks
        if mark["mistake"]
    }
    if not counts:
        return "<p>None of the known mistakes was made.</p>"
    lines = [
        [count, question, name, sentences[question, name]]
        for (question, name), count in counts.most_common(25)
    ]
    return table(["students", "question", "mistake", "what they read"], lines, numbers=[0])


def attention(rows):
    """Submissions with a note or an error."""
    lines = [
        [row.student, "; ".join([*row.notes, *([export.status(row)] if row.error else [])])]
        for row in rows
        if row.notes or row.error
    ]
    return table(["student", "what"], lines) if lines else "<p>Nothing.</p>"


def table(header, lines, numbers=()):
    """An HTML table of texts and numbers."""

    def cells(tag, line):
        kinds = [" class=number" if column in numbers else "" for column in range(len(line))]
        return "".join(
            f"<{tag}{kind}>{escape(str(value))}</{tag}>" for kind, value in zip(kinds, line, strict=True)
        )

    body = "".join(f"<tr>{cells('td', line)}</tr>" for line in lines)
    return f"<table><thead><tr>{cells('th', header)}</tr></thead><tbody>{body}</tbody></table>"
