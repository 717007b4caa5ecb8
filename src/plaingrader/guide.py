"""Sphinx extension: the numbers and tables of the teaching guide, made from the map of the assignments, from
the chapters, and from the defaults of the grader's options.

The directive ``{assigned-questions}`` lists every assigned question, ``{course-plan}`` reckons the minutes of
each week, and the substitution ``{{ course.… }}`` holds what the text says in numbers. Of the assignments
only the map is read: neither a solution nor a reference answer can come into the book this way.
"""

import json
import re
from functools import cache
from html import escape
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

from plaincourse.pace import minutes

from . import course
from .__main__ import arguments

MARKUP = re.compile(r"([\\`*_{}\[\]<>|$#~])")


@cache
def chapter(root, name):
    """A chapter's title, the minutes to read it, and those of its exercises."""
    notebook = Path(root, f"chapters/{name}.ipynb")
    title = "".join(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"]).splitlines()[0]
    reading, exercises = minutes(notebook)
    return {"title": title.removeprefix("# "), "reading": reading, "exercises": exercises}


def facts():
    """What the guide says in numbers."""
    entries = course.assignments().values()
    items = [item for entry in entries for item in entry.items]
    written = sum(item.points for item in items if item.kind == "written")
    points = sum(item.points for item in items)
    minutes = [entry.minutes for entry in entries if not entry.name.startswith("project")]
    options = arguments(["grade", "NAME"])
    return {
        "chapters": len(minutes),
        "parts": len(entries) - len(minutes),
        "questions": len(items),
        "points": points,
        "by_hand": sum(item.kind == "by hand" for item in items),
        "written": sum(item.kind == "written" for item in items),
        "share": round(100 * written / points),
        "shortest": min(minutes),
        "longest": max(minutes),
        "timeout": options.timeout,
        "budget": options.budget,
        "memory": options.memory,
    }


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
        self.env.note_dependency(str(course.folder() / "course.toml"))
        self.env.note_reread()
        return self.parse_text_to_nodes("\n".join(self.markdown(self.env.srcdir)))


class AssignedQuestions(Generated):
    """A table of the assignments, then, folded, the questions of each with links to the sections that they
    ask about.
    """

    has_content = False

    def markdown(self, root):
        """The lines of the whole list."""
        entries = course.assignments().values()
        header = ["Assignment", "Questions", "Minutes", "Points"]
        return [*table(header, overview(entries), 1), *(line for entry in entries for line in folded(entry))]


def folded(entry):
    """One assignment's questions, to unfold."""
    lines = [
        [
            f"{item.name}: {plain(item.title)}",
            plain(item.objective),
            f"[{plain(item.section)}](../{entry.chapter}.ipynb#{anchor(item.section)})",
            item.kind,
            item.minutes,
            item.points,
        ]
        for item in entry.items
    ]
    lines.append(["**Together**", "", "", "", entry.minutes, entry.points])
    header = ["Question", "Objective", "Section", "Kind", "Minutes", "Points"]
    opening = ["<details>", f"<summary>{escape(titled(entry, str))}</summary>", ""]
    return ["", *opening, *table(header, lines, 4), "", "</details>"]


def titled(entry, written=plain):
    """An assignment's number and title, the title as `written` makes it."""
    title = written(entry.title)
    return f"{int(entry.name[:2])}. {title}" if entry.name[:2].isdigit() else title


def overview(entries):
    """A line for each assignment, and one for all."""
    lines = [
        [f"{titled(entry)}<br>`{entry.name}`", len(entry.items), entry.minutes, entry.points]
        for entry in entries
    ]
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
            lost = [name for name in given if name not in course.assignments()]
            lost += [name for name in read if not Path(root, f"chapters/{name}.ipynb").exists()]
            if lost:
                raise self.error(f"course-plan: no chapter or assignment named {', '.join(lost)}")
            minutes = [sum(chapter(root, name)[part] for name in read) for part in ("reading", "exercises")]
            minutes.append(sum(course.find(name).minutes for name in given))
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
    course.assignments.cache_clear()
    chapter.cache_clear()
    config.myst_substitutions = {**(config.myst_substitutions or {}), "course": facts()}


def setup(app):
    """Register the directives and the numbers."""
    app.add_directive("assigned-questions", AssignedQuestions)
    app.add_directive("course-plan", CoursePlan)
    app.connect("config-inited", add_facts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
