"""The glossary: sorted, complete in each entry, and its code names are those of the library."""

import re

import pytest
from project import ROOT

TEXT = (ROOT / "chapters/appendix/glossary.md").read_text(encoding="utf-8")
BODY = TEXT.partition("```{glossary}\n")[2].partition("```")[0]
ENTRIES = [entry.splitlines() for entry in re.split(r"\n\n(?=\S)", BODY.strip())]
CODE = "\n".join(f"{path.stem}\n{path.read_text(encoding='utf-8')}" for path in sorted((ROOT / "src/plainformer").rglob("*.py")))


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
