"""Which package may import which. Nothing points the wrong way."""

import ast
import subprocess
import sys

import pytest
from project import ROOT

SRC = ROOT / "src"
STANDARD = set(sys.stdlib_module_names)


def imported(source):
    """The top-level names of all modules that a source text imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


def modules(package):
    return sorted((SRC / package).rglob("*.py"))


def loaded_by(statement):
    """The top-level names of all modules that a fresh Python has loaded after running a statement."""
    program = f"import sys; sys.path.insert(0, {str(SRC)!r}); {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return {name.split(".")[0] for name in run.stdout.split()}


def test_imports_are_found():
    assert imported("import a.b\ndef f():\n    from c.d import e\nfrom . import g") == {"a", "c"}


@pytest.mark.parametrize("path", modules("plainformer"), ids=lambda path: path.stem)
def test_plainformer_needs_arrays_alone(path):
    assert imported(path.read_text(encoding="utf-8")) - STANDARD <= {"plainformer", "numpy", "array_api_compat"}


@pytest.mark.parametrize("package", ["plainformer", "plaincourse"])
def test_nothing_imports_a_chapter_or_a_test(package):
    for path in modules(package):
        assert not imported(path.read_text(encoding="utf-8")) & {"chapters", "assignments", "tests", "conftest"}, path


def test_importing_plaincourse_is_light():
    assert not loaded_by("import plaincourse") & {"numpy", "matplotlib", "anywidget", "ipywidgets", "torch", "plainformer"}


def test_building_the_book_needs_no_kernel_and_no_torch():
    extensions = [f"plaincourse.book.{path.stem}" for path in modules("plaincourse/book") if path.stem != "__init__"]
    assert extensions
    assert not loaded_by(f"import {', '.join(extensions)}") & {"matplotlib", "anywidget", "ipywidgets", "torch", "ipykernel"}


def test_the_api_page_needs_no_torch():
    names = [f"plainformer.{path.stem}" for path in modules("plainformer") if path.stem != "__init__"]
    assert not loaded_by(f"import {', '.join(names)}") & {"torch", "matplotlib", "anywidget", "plaincourse"}
