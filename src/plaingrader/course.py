"""Where the course is, and its map: objective → section → question → minutes → points
(assignments/course.toml).
"""

import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("by hand", "function", "mend", "written")


@dataclass(frozen=True)
class Item:
    """One question in the map."""

    name: str
    title: str
    kind: str
    objective: str
    section: str
    minutes: int
    points: float


@dataclass(frozen=True)
class Assignment:
    """One assignment in the map."""

    name: str
    title: str
    chapter: str
    items: tuple[Item, ...]

    @property
    def points(self):
        return sum(item.points for item in self.items)

    @property
    def minutes(self):
        return sum(item.minutes for item in self.items)


def folder():
    """The nbgrader course: this repository's, or the folder that the environment variable PLAINGRADER_COURSE
    names.
    """
    return Path(os.environ.get("PLAINGRADER_COURSE", ROOT / "assignments")).resolve()


def dist():
    """Where bundles and marks go: beside the course."""
    return folder().parent / "dist"


@cache
def assignments():
    """All assignments by name, in the order of the course."""
    return {entry["name"]: read(entry) for entry in table("assignment")}


def table(name):
    """A table of course.toml, or None if it has none of this name."""
    return tomllib.loads((folder() / "course.toml").read_text(encoding="utf-8")).get(name)


def read(entry):
    """An Assignment from its table in the map. ValueError for a question of an unknown kind."""
    items = tuple(Item(**item) for item in entry["question"])
    for item in items:
        if item.kind not in KINDS:
            raise ValueError(
                f"course.toml: {entry['name']} {item.name}: kind = {item.kind!r} must be one of"
                f" {', '.join(KINDS)}"
            )
    return Assignment(entry["name"], entry["title"], entry["chapter"], items)


def find(name):
    """The assignment of this name. KeyError, with the names there are, for any other."""
    if name not in assignments():
        raise KeyError(f"no assignment named {name!r}; there are {', '.join(assignments())}")
    return assignments()[name]
