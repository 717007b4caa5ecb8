"""Which answers use a function that they are to write."""

import pytest

from plaingrader.refused import refused_use

SOFTMAX = "plainformer.activations.softmax"
ANSWER = "def my_softmax(x):\n    return {}(x)"


@pytest.mark.parametrize(
    ("cells", "answer"),
    [
        ([], "from plainformer.activations import softmax\n" + ANSWER.format("softmax")),
        ([], "from plainformer.activations import softmax as s\nmy_softmax = s"),
        ([], "from plainformer.activations import *\n" + ANSWER.format("softmax")),
        ([], "import plainformer.activations as a\n" + ANSWER.format("a.softmax")),
        ([], "import plainformer.activations\n" + ANSWER.format("plainformer.activations.softmax")),
        ([], "from plainformer import activations\n" + ANSWER.format("activations.softmax")),
        ([], "def my_softmax(x):\n    from plainformer.activations import softmax\n    return softmax(x)"),
        (["from plainformer.activations import softmax as s"], ANSWER.format("s")),
        (
            ["from plainformer.activations import softmax as s", "def helper(x): return s(x)"],
            ANSWER.format("helper"),
        ),
        (
            ["from plainformer.activations import softmax as s\ng = s", "def helper(x): return g(x)"],
            ANSWER.format("helper"),
        ),
        (["from plainformer.activations import *"], ANSWER.format("softmax")),
        (
            [],
            (
                "from plainformer.activations import softmax as s\ndef my_softmax(x):\n    def inner(y):\n   "
                "     return s(y)\n    return inner(x)"
            ),
        ),
        (["import plainformer.activations as a"], "f = a.softmax\nmy_softmax = lambda x: f(x)"),
        (["%matplotlib inline\nfrom plainformer.activations import softmax as s"], ANSWER.format("s")),
    ],
)
def test_refused(cells, answer):
    assert refused_use("my_softmax", [*cells, answer], (SOFTMAX,)) == SOFTMAX


@pytest.mark.parametrize(
    ("cells", "answer"),
    [
        ([], ANSWER.format("np.exp")),
        (["from plainformer.activations import softmax"], ANSWER.format("np.exp")),
        (
            ["from plainformer.activations import softmax"],
            "def softmax(x):\n    return softmax(x)\nmy_softmax = softmax",
        ),
        (["from plainformer.activations import softmax"], "def my_softmax(softmax):\n    return softmax"),
        ([], "from plainformer.activations import gelu\n" + ANSWER.format("gelu")),
        (
            ["from plainformer.activations import softmax\ndef other(x): return softmax(x)"],
            ANSWER.format("np.exp"),
        ),
        (
            ["from plainformer.activations import *"],
            "def softmax(x):\n    return softmax(x)\nmy_softmax = softmax",
        ),
        (
            ["from plainformer.activations import softmax as lib\nt = lib(np.ones(3))"],
            "def my_softmax(x):\n    t = np.exp(x)\n    return t",
        ),
        (
            ["from plainformer.activations import softmax as lib"],
            ANSWER.format("np.exp") + "\nprint(lib(np.ones(3)) - my_softmax(np.ones(3)))",
        ),
        ([], ANSWER.format("np" + ".a" * 2000)),
        ([], "def my_softmax(x:\n    return softmax("),
    ],
)
def test_allowed(cells, answer):
    assert refused_use("my_softmax", [*cells, answer], (SOFTMAX,)) is None
