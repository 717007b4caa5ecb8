"""Which package may import which. Nothing points the wrong way."""

import ast
import subprocess
import sys

import pytest
from project import ROOT

SRC = ROOT / "src"
STANDARD = set(sys.stdlib_module_names)
ARRAYS = {"plainformer", "numpy", "array_api_compat"}
# What a part of plainformer may import beside arrays.
MORE = {"training": {"torch"}, "pretrained": {"gguf", "safetensors", "tokenizers"}}
# In front of a statement: as if PyTorch were not installed.
WITHOUT_TORCH = """
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refusing())
"""


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


def dotted(path):
    """The name under which a module is imported."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def loaded_by(statement):
    """The top-level names of all modules that a fresh Python has loaded after running a statement."""
    program = f"import sys\nsys.path.insert(0, {str(SRC)!r})\n{statement}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return {name.split(".")[0] for name in run.stdout.split()}


def test_imports_are_found():
    assert imported("import a.b\ndef f():\n    from c.d import e\nfrom . import g") == {"a", "c"}


@pytest.mark.parametrize("path", modules("plainformer"), ids=dotted)
def test_plainformer_needs_arrays_alone(path):
    part = path.relative_to(SRC / "plainformer").with_suffix("").parts[0]
    assert imported(path.read_text(encoding="utf-8")) - STANDARD <= ARRAYS | MORE.get(part, set())


def test_plainformer_can_be_imported_without_torch():
    names = [dotted(path) for path in modules("plainformer")]
    assert "torch" not in loaded_by(WITHOUT_TORCH + f"import {', '.join(names)}")


def test_a_model_writes_without_torch():
    loaded = loaded_by(
        WITHOUT_TORCH
        + """
import numpy as np
from plainformer import gpt2, llama
from plainformer.generation import generate
from plainformer.training import cross_entropy
rng = np.random.default_rng(0)
small = gpt2.initialize(gpt2.Config(8, 2, 1e-5), 9, 4, 1, rng)
other = llama.initialize(llama.Config(8, 2, 1e-5, 1e4, "halves"), 9, 4, 1, 6, 1, rng)
for module, model in ((gpt2, small), (llama, other)):
    assert len(list(generate(module.forward, model, [1], 3, rng))) == 3
    assert cross_entropy(module.forward([1, 2, 3], model)[0], [1, 2, 3]) > 0
"""
    )
    assert "torch" not in loaded


def test_torch_is_found_missing_where_it_is_needed():
    with pytest.raises(subprocess.CalledProcessError):
        loaded_by(WITHOUT_TORCH + "import torch")


@pytest.mark.parametrize("package", ["plainformer", "plaincourse", "plaingrader"])
def test_nothing_imports_a_chapter_or_a_test(package):
    for path in modules(package):
        assert not imported(path.read_text(encoding="utf-8")) & {
            "chapters",
            "assignments",
            "tests",
            "conftest",
        }, path


@pytest.mark.parametrize("package", ["plainformer", "plaincourse"])
def test_what_students_get_does_not_need_the_grader(package):
    for path in modules(package):
        assert not imported(path.read_text(encoding="utf-8")) & {
            "plaingrader",
            "nbgrader",
            "distributed",
            "nbconvert",
        }, path


def test_what_runs_beside_a_students_code_is_light():
    assert not loaded_by("import plaincourse.assigned.answers") & {
        "torch",
        "matplotlib",
        "nbgrader",
        "plaingrader",
    }


def test_importing_plaincourse_is_light():
    assert not loaded_by("import plaincourse") & {
        "numpy",
        "matplotlib",
        "anywidget",
        "ipywidgets",
        "torch",
        "plainformer",
    }


def test_building_the_book_needs_no_kernel_and_no_torch():
    extensions = [
        f"plaincourse.book.{path.stem}" for path in modules("plaincourse/book") if path.stem != "__init__"
    ]
    extensions.append("plaingrader.guide")
    assert not loaded_by(f"import {', '.join(extensions)}") & {
        "matplotlib",
        "anywidget",
        "ipywidgets",
        "torch",
        "ipykernel",
    }


def test_the_api_page_needs_no_torch():
    names = [dotted(path) for path in modules("plainformer")]
    assert not loaded_by(f"import {', '.join(names)}") & {"torch", "matplotlib", "anywidget", "plaincourse"}
