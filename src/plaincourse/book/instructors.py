"""Sphinx extension: the numbers and tables of the teaching guide, made from the map of the assignments and
from the chapters.

The directive ``{assigned-questions}`` lists every assigned question, ``{course-plan}`` reckons the minutes of
each week, and the substitution ``{{ course.… }}`` holds what the text says in numbers. Only
assignments/course.toml, the chapters' own notebooks and the grader's options are read, as text: neither a
solution nor a reference answer can come into the book this way.
"""

import json
import re
import tomllib
from functools import cache
from html import escape
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

MAP = "assignments/course.toml"
OPTIONS = "src/plaingrader/__main__.py"
TIME = re.compile(r"- \*\*Time\*\*: ([^;\n]*)")
EXERCISE = re.compile(r"Difficulty \d, (\d+) minutes")
MARKUP = re.compile(r"([\\`*_{}\[\]<>|$#~])")


@cache
def assignments(root):
    """The tables of the map, by name: the chapters' in order, then the project."""
    data = tomllib.loads(Path(root, MAP).read_text(encoding="utf-8"))
    return {entry["name"]: entry for entry in sorted(data["assignment"], key=lambda entry: entry["name"])}


@cache
def chapter(root, name):
    """A chapter's title, the minutes to read it, and those of its exercises, as it says them itself."""
    cells = json.loads(Path(root, f"chapters/{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    text = "\n".join(texts)
    time = TIME.search(text)
    if not time:
        raise ExtensionError(f"chapters/{name}.ipynb: no line '- **Time**: …' in the box at its top")
    return {
        "title": texts[0].splitlines()[0].removeprefix("# "),
        "reading": sum(map(int, re.findall(r"\d+", time[1]))),
        "exercises": sum(map(int, EXERCISE.findall(text))),
    }


def total(root, name, field):
    """An assignment's minutes or points."""
    return sum(question[field] for question in assignments(root)[name]["question"])


def facts(root):
    """What the guide says in numbers."""
    entries = assignments(root)
    questions = [question for entry in entries.values() for question in entry["question"]]
    written = sum(question["points"] for question in questions if question["kind"] == "written")
    points = sum(question["points"] for question in questions)
    minutes = [total(root, name, "minutes") for name in entries if not name.startswith("project")]
    return {
        "chapters": len(minutes),
        "parts": len(entries) - len(minutes),
        "questions": len(questions),
        "points": points,
        "by_hand": sum(question["kind"] == "by hand" for question in questions),
        "written": sum(question["kind"] == "written" for question in questions),
        "share": round(100 * written / points),
        "shortest": min(minutes),
        "longest": max(minutes),
    } | {name: option(root, name) for name in ("timeout", "budget", "memory")}


def option(root, name):
    """The default of one of the grader's options."""
    found = re.search(rf'"--{name}".*?default=(\d+)', Path(root, OPTIONS).read_text(encoding="utf-8"))
    if not found:
        raise ExtensionError(f"{OPTIONS}: no option --{name} with a default")
    return int(found[1])


def plain(text):
    """Text in which Markdown finds no markup."""
    return MARKUP.sub(r"\\\1", str(text))


def anchor(heading):
    """The anchor of a chapter's heading, as MyST makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def table(header, lines, numbers):
    """A Markdown table; the columns from `numbers` on are numbers."""
    rule = ["---" if column < numbers else "--:" for column in range(len(header))]
    return ["", *(f"| {' | '.join(map(str, line))} |" for line in (header, rule, *lines)), ""]


class Generated(SphinxDirective):
    """A directive that writes Markdown from the map and the chapters."""

    def run(self):
        # Made from other files than the page's own, so the page is read again in every build.
        self.env.note_dependency(str(Path(self.env.srcdir, MAP)))
        self.env.note_reread()
        return self.parse_text_to_nodes("\n".join(self.markdown(self.env.srcdir)))


class AssignedQuestions(Generated):
    """A table of the assignments, then, folded, the questions of each with links to the sections that they
    ask about.
    """

    has_content = False

    def markdown(self, root):
        """The lines of the whole list."""
        names = list(assignments(root))
        header = ["Assignment", "Questions", "Minutes", "Points"]
        return [
            *table(header, overview(root, names), 1),
            *(line for name in names for line in folded(root, name)),
        ]


def folded(root, name):
    """One assignment's questions, to unfold."""
    entry = assignments(root)[name]
    page = f"../{entry['chapter']}.ipynb"
    lines = [
        [
            f"{question['name']}: {plain(question['title'])}",
            plain(question["objective"]),
            f"[{plain(question['section'])}]({page}#{anchor(question['section'])})",
            question["kind"],
            question["minutes"],
            question["points"],
        ]
        for question in entry["question"]
    ]
    lines.append(["**Together**", "", "", "", total(root, name, "minutes"), total(root, name, "points")])
    header = ["Question", "Objective", "Section", "Kind", "Minutes", "Points"]
    opening = ["<details>", f"<summary>{escape(titled(root, name, str))}</summary>", ""]
    return ["", *opening, *table(header, lines, 4), "", "</details>"]


def titled(root, name, written=plain):
    """An assignment's number and title, the title as `written` makes it."""
    title = written(assignments(root)[name]["title"])
    return f"{int(name[:2])}. {title}" if name[:2].isdigit() else title


def overview(root, names):
    """A line for each assignment, and one for all."""
    lines = []
    for name in names:
        count = len(assignments(root)[name]["question"])
        lines.append(
            [
                f"{titled(root, name)}<br>`{name}`",
                count,
                total(root, name, "minutes"),
                total(root, name, "points"),
            ]
        )
    return [*lines, ["**Together**", *(sum(line[column] for line in lines) for column in (1, 2, 3))]]


class CoursePlan(Generated):
    """A table of weeks. A line of its content is a week: the chapters to read, then, after ``|``, what to
    hand out.
    """

    has_content = True

    def markdown(self, root):
        """The lines of the table. A name that is not there is an error of this line."""
        lines, sums = [], [0, 0, 0]
        for week, line in enumerate(self.content, 1):
            read, _, given = (part.split() for part in line.partition("|"))
            lost = [name for name in given if name not in assignments(root)]
            lost += [name for name in read if not Path(root, f"chapters/{name}.ipynb").exists()]
            if lost:
                raise self.error(f"course-plan: no chapter or assignment named {', '.join(lost)}")
            minutes = [sum(chapter(root, name)[part] for name in read) for part in ("reading", "exercises")]
            minutes.append(sum(total(root, name, "minutes") for name in given))
            sums = [old + new for old, new in zip(sums, minutes, strict=True)]
            items = [linked(root, name) for name in read] + [f"→ `{name}`" for name in given]
            lines.append([week, "<br>".join(items), *minutes, hours(sum(minutes))])
        lines.append(["**All**", "", *sums, hours(sum(sums))])
        return table(["Week", "Read and hand out", "Reading", "Exercises", "Assigned", "Hours"], lines, 2)


def linked(root, name):
    """A link to a chapter that stays on one line."""
    text = f"{int(name[:2])}. {plain(chapter(root, name)['title'])}".replace(" ", "\N{NO-BREAK SPACE}")
    return f"[{text}](../{name}.ipynb)"


def hours(minutes):
    """Minutes as hours and minutes: 2:05."""
    return f"{minutes // 60}:{minutes % 60:02d}"


def add_facts(app, config):
    """Give the page its numbers."""
    assignments.cache_clear()
    chapter.cache_clear()
    config.myst_substitutions = {**(config.myst_substitutions or {}), "course": facts(app.srcdir)}


def setup(app):
    """Register the directives and the numbers."""
    app.add_directive("assigned-questions", AssignedQuestions)
    app.add_directive("course-plan", CoursePlan)
    app.connect("config-inited", add_facts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
