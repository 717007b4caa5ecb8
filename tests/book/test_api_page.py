"""The API page: every public function and group of parameters of plainformer is on it, shapes first."""

import importlib

import pytest
from bs4 import BeautifulSoup
from plaincourse.book import api
from project import ROOT

NAMES = sorted(path.stem for path in (ROOT / "src/plainformer").glob("*.py") if path.stem not in ("__init__", "settings", "shapes"))


@pytest.fixture(scope="module")
def page(html):
    return BeautifulSoup((html / "chapters/appendix/api.html").read_text(encoding="utf-8"), "html.parser")


def public(module):
    """The functions with a shape line and the groups of parameters that a module defines."""
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) == module.__name__:
            shaped = callable(thing) and "->" in (thing.__doc__ or "").partition("\n")[0]
            if shaped or api.is_parameters(thing):
                yield name, thing


@pytest.mark.parametrize("name", NAMES)
def test_everything_public_is_described(page, name):
    module = importlib.import_module(f"plainformer.{name}")
    found = list(public(module))
    assert found
    for member, thing in found:
        entry = page.find(id=f"{module.__name__}.{member}")
        assert entry, f"{member} is missing from chapters/appendix/api.md"
        text = " ".join(entry.find_next_sibling("dd").get_text(" ").split())
        if not api.is_parameters(thing):
            shapes = thing.__doc__.partition("\n")[0].strip("`")
            assert text.replace(" ", "").startswith(shapes.replace(" ", "")), "the shape line comes first"


def test_the_fields_of_parameters_carry_shapes():
    from plainformer.mlp import MLP

    assert list(api.field_shapes(MLP)) == [("up", "(E, F)"), ("up_bias", "(F)"), ("down", "(F, E)"), ("down_bias", "(E)")]
