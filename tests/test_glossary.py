"""The glossary: sorted, complete in each entry, and its code names are those of the library. The chapters
link to it at first use.
"""

import re

import nbformat
import pytest
from project import CHAPTERS, ROOT

TEXT = (ROOT / "chapters/appendix/glossary.md").read_text(encoding="utf-8")
BODY = TEXT.partition("```{glossary}\n")[2].partition("```")[0]
ENTRIES = [entry.splitlines() for entry in re.split(r"\n\n(?=\S)", BODY.strip())]
HOMES = {
    entry[0]: re.search(r"\.\./(\d\d_\w+)\.ipynb\)$", entry[3])[1] for entry in ENTRIES
}  # the chapter that an entry names
CODE = "\n".join(
    f"{path.stem}\n{path.read_text(encoding='utf-8')}"
    for path in sorted((ROOT / "src/plainformer").rglob("*.py"))
)


def test_the_terms_are_sorted_and_named_once():
    terms = [entry[0].lower() for entry in ENTRIES]
    assert len(terms) >= 60 and terms == sorted(set(terms))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[0])
def test_an_entry_is_complete(entry):
    assert entry[1].strip().endswith((".", ")")) and entry[2] == ""
    assert re.search(r'Korean: <span lang="ko">[^<]+</span> · .*\]\(\.\./\d\d_\w+\.ipynb\)$', entry[3])


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry[0])
def test_its_names_are_in_the_code(entry):
    names = [part for name in re.findall(r"`([^`]+)`", entry[3]) for part in name.split(".")]
    assert not [name for name in names if not re.search(rf"\b{name}\b", CODE)]


# ---- links from the chapters: {term}`query`, {term}`queries <query>`

LINK = r"\{term\}`(?P<text>[^`<]+?)(?:\s+<(?P<target>[^`>]+)>)?`"
# No running text: boxes and blocks of code, headings, rows of tables, formulas, links, code.
NO_PROSE = (
    r"^(?P<fence>`{3,}|:{3,}).*?^(?P=fence)\s*?$|^(?:#|\|).*?$|\$\$.*?\$\$|\[[^]]*\]\([^)]*\)"
    r"|(?:\{[\w:]+\})?`[^`]*`|\$[^$]*\$"
)


def forms(term):
    """A term, its plural, and its singular."""
    return {
        term,
        f"{term}s",
        f"{term}es",
        re.sub("y$", "ies", term),
        re.sub("ix$", "ices", term),
        term.removesuffix("s"),
    }


NAMES = {form.lower(): term for term in HOMES for form in forms(term)}
LONGEST_FIRST = "|".join(re.escape(name) for name in sorted(NAMES, key=len, reverse=True))
MENTION = re.compile(rf"{LINK}|(?<![\w-])(?P<name>{LONGEST_FIRST})(?![\w-])", re.IGNORECASE)


def prose(cells):
    """The running text of a chapter, with its links to the glossary: after the box at the start and before
    the questions.
    """
    text = "\n\n".join(cell.source for cell in cells[1:] if cell.cell_type == "markdown").partition(
        "\n## Check yourself\n"
    )[0]
    kept = re.sub(
        f"{LINK}|{NO_PROSE}",
        lambda match: match[0] if match["text"] else "…",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    return " ".join(kept.split())


def mentions(text):
    """Pairs (term, whether it is linked) in order. The longest term counts: no attention in attention
    weights, no token in a link to another term.
    """
    for match in MENTION.finditer(text):
        yield (
            (match["target"] or match["text"], True)
            if match["text"]
            else (NAMES[match["name"].lower()], False)
        )


MENTIONS = {path.stem: list(mentions(prose(nbformat.read(path, as_version=4).cells))) for path in CHAPTERS}


def test_mentions_are_found():
    source = """## The key
A `query`, a [query](key.ipynb), the $query$: **{term}`Queries <query>`** {cite:p}`token` meet *keys*,
attention\nweights, key-value, monkey.

```{note} A loss
A loss.
```

| mask | bias |

Of {term}`rotary position embedding <RoPE>`, too."""
    cells = [
        nbformat.v4.new_markdown_cell(text)
        for text in ("A token.", source, "A token.\n\n## Check yourself\n\nA loss.", "A loss.")
    ]
    found = [("query", True), ("key", False), ("attention weights", False), ("RoPE", True), ("token", False)]
    assert list(mentions(prose(cells))) == found


@pytest.mark.parametrize("term", HOMES)
def test_a_term_is_linked_where_it_is_first_used(term):
    """In the first chapter that has it, and in the chapter that builds it: what stands there first is a
    link.
    """
    first = [chapter for chapter, found in MENTIONS.items() if term in dict(found)][:1]
    for chapter in {*first, HOMES[term]}:
        linked = [linked for name, linked in MENTIONS[chapter] if name == term]
        assert linked and linked[0], (
            f"{chapter}: the first of {len(linked)} mentions is no link: {{term}}`{term}`"
        )


@pytest.mark.parametrize("chapter", MENTIONS)
def test_a_chapter_links_a_term_once(chapter):
    links = [term for term, linked in MENTIONS[chapter] if linked]
    assert sorted(links) == sorted(set(links))
