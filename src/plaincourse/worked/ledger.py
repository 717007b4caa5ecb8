"""Reading the ledger: the file that lists every worked number of the three documents, and what is true of it.

``ledger.toml`` holds one table for each document and one for each entry, which has one or more parts:

    [A3]
    document = "A"
    section = "…"                # the heading in the document
    says = "…"                   # what the document gives, in our words
    verdict = "exact"            # exact, rounded, conditional or corrected
    why = "…"
    claim = "…"                  # conditional or corrected: what is true, in a line, the title of its card
    [[A3.parts]]
    chapter = "matmul"           # the notebook whose cell computes it: chapters/NN_matmul.ipynb, or
    appendix/matmul.ipynb name = "products"            # the keyword in the cell; one part of an entry may go
    without label = "the four products"  # what the card calls it printed = ["2", "-2"]        # as the
    document prints it right = ["2", "-2"]          # what is true, if the document prints something else or
    nothing rounded = true               # in an exact entry: the document rounds this number

Numbers are strings, so that their digits are known; nested lists are matrices; true and false are claims; any
other string is compared as text, for instance the shape "(6, 768)".
"""

import difflib
import tomllib
from dataclasses import MISSING, dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path

VERDICTS = {
    "exact": "The computation gives the printed value.",
    "rounded": "The computation gives it within the printed digits.",
    "conditional": "True under a condition that the document does not state.",
    "corrected": "The document is wrong or too strong here.",
}
FILE = Path(__file__).with_name("ledger.toml")


class LedgerError(ValueError):
    """The ledger file breaks its own rules."""


@dataclass(frozen=True)
class Document:
    """One of the three documents."""

    id: str
    title: str
    gloss: str


@dataclass(frozen=True)
class Part:
    """One thing that a cell computes for an entry."""

    chapter: str
    label: str
    name: str = ""
    printed: list | None = None
    right: list | None = None
    rounded: bool = False

    @property
    def expected(self):
        """What the computation must give."""
        return self.printed if self.right is None else self.right


@dataclass(frozen=True)
class Entry:
    """One worked number: what a document gives, and what is true of it."""

    id: str
    document: Document
    section: str
    says: str
    verdict: str
    why: str
    parts: tuple
    claim: str = ""

    @property
    def headline(self):
        """What the entry comes to, in a line."""
        return self.claim or self.says

    def part(self, name):
        """The part with this keyword ("" is the part without a name)."""
        for part in self.parts:
            if part.name == name:
                return part
        raise ValueError(
            f"{self.id} has no {f'part {name!r}' if name else 'part without a name'}. {self.usage()}"
        )

    def usage(self):
        """How a cell calls `worked` for this entry."""
        calls = [(f"{part.name}=…" if part.name else "…", part.chapter) for part in self.parts]
        return "Its parts: " + ", ".join(
            f'worked("{self.id}", {call}) in {chapter}' for call, chapter in calls
        )


class Ledger:
    """All documents and entries. Raises LedgerError if the file is not as it should be."""

    def __init__(self, text):
        try:
            tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise LedgerError(f"not valid TOML: {error}") from error
        documents = {
            key: _made(Document, {"id": key} | table, key)
            for key, table in tables.pop("documents", {}).items()
        }
        self.documents = documents
        self.entries = {key: _entry(key, table, documents) for key, table in tables.items()}

    def __getitem__(self, key):
        if not isinstance(key, str) or key not in self.entries:
            near = (
                difflib.get_close_matches(str(key).upper(), self.entries, n=3, cutoff=0.4)
                or list(self.entries)[:3]
            )
            raise KeyError(f"no worked number {key!r} in the ledger. Near it: {', '.join(near)}")
        return self.entries[key]

    def of_document(self, document):
        """The entries of one document, in the file's order."""
        return [entry for entry in self.entries.values() if entry.document == document]


@cache
def load():
    """The ledger of the course."""
    return Ledger(FILE.read_text(encoding="utf-8"))


def number(text):
    """The Decimal that a printed string stands for, or None if it is not a number. Allows 2,359,296 and 54.67
    %.
    """
    try:
        value = Decimal(text.replace("−", "-").replace(",", "").removesuffix("%").strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def _entry(key, table, documents):
    table = dict(table)
    if table.get("verdict") not in VERDICTS:
        raise LedgerError(
            f"{key}: verdict must be one of {', '.join(VERDICTS)}, got {table.get('verdict')!r}"
        )
    if table.get("document") not in documents:
        raise LedgerError(
            f"{key}: document must be one of {', '.join(documents)}, got {table.get('document')!r}"
        )
    table["document"] = documents[table["document"]]
    if not table.get("parts"):
        raise LedgerError(f"{key}: has no parts")
    table["parts"] = tuple(_part(part, f"{key}, part {i}") for i, part in enumerate(table["parts"], 1))
    if ("claim" in table) != (table["verdict"] in ("conditional", "corrected")):
        raise LedgerError(
            f"{key}: a claim is what stands above a card: conditional and corrected entries have one"
        )
    names = [part.name for part in table["parts"]]
    if len(set(names)) < len(names):
        raise LedgerError(f"{key}: each part needs a name of its own (one may go without), got {names}")
    return _made(Entry, {"id": key} | table, key)


def _part(table, where):
    part = _made(Part, table, where)
    if part.name and not part.name.isidentifier():
        raise LedgerError(f"{where}: name must be usable as a keyword, got {part.name!r}")
    if part.expected is None:
        raise LedgerError(f"{where}: needs printed, right or both")
    for field in ("printed", "right"):
        _check_values(getattr(part, field), f"{where}: {field}")
    return part


def _check_values(values, where):
    """Lists of strings and claims, or of rows of equal length."""
    if values is None:
        return
    if not isinstance(values, list) or not values:
        raise LedgerError(f"{where} must be a list with at least one value, got {values!r}")
    rows = values if isinstance(values[0], list) else [values]
    if any(not isinstance(row, list) or len(row) != len(rows[0]) or not row for row in rows):
        raise LedgerError(f"{where} must be a flat list or a list of rows of equal length")
    for value in (value for row in rows for value in row):
        if not isinstance(value, str | bool):
            raise LedgerError(
                f"{where} must hold strings (so that the digits are known) or true and false, got {value!r}"
            )


def _made(kind, table, where):
    """Build a dataclass from a table, with an error that names a missing, empty or unknown field."""
    fields = kind.__dataclass_fields__
    unknown = set(table) - set(fields)
    if unknown:
        raise LedgerError(f"{where}: unknown field {', '.join(sorted(unknown))}")
    for name, field in fields.items():
        if field.default is MISSING and not table.get(name):
            raise LedgerError(f"{where}: {name} is missing or empty")
    return kind(**table)
