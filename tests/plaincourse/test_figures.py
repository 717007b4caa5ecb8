"""The figures: the same input gives the same bytes, they fit a page and the dark, and wrong input is
named.
"""

import functools
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest

from plaincourse import figures, palette
from plaincourse.figures import Grid, _style

ROW = [1, 2, -1, 0]
TABLE = np.arange(32.0).reshape(4, 8) / 2 - 8
X = np.linspace(-3, 3, 61)


def product():
    return figures.product(
        Grid(values=ROW, title="x"), Grid(values=TABLE, title="W"), Grid(values=ROW @ TABLE, title="z")
    )


curves = functools.partial(figures.curves, xlabel="x", ylabel="y")
flow = functools.partial(figures.flow, start="x", end="y")
DRAWINGS = {
    "matrix": lambda: figures.matrix(
        TABLE, rows=list("abcd"), columns=list("ABCDEFGH"), row_axis="D", column_axis="F"
    ),
    "masked": lambda: figures.matrix([[0.5, -np.inf], [1, 2]], highlight_rows=[0], highlight_columns=[1]),
    "booleans": lambda: figures.matrix(np.tri(3) > 0, kind="weights"),
    "large": lambda: figures.matrix(np.sin(np.arange(210.0)).reshape(14, 15), numbers=False),
    "matrices": lambda: figures.matrices(
        [Grid(values=ROW), "·", Grid(values=TABLE), "=", Grid(values=ROW @ TABLE)]
    ),
    "product": product,
    "bars": lambda: figures.bars(["a", "b"], [0.25, -0.5], xlabel="share", faded=[1]),
    "grouped bars": lambda: figures.bars(
        ["a", "b"], {"T = 1": [1, 2], "T = 2": [3, 4]}, xlabel="share", title="Two"
    ),
    "curves": lambda: curves(X, {"x": X, "x²": X**2}, points=[(0, 0, "here"), (1, 1, "there", (2, 4))]),
    "log": lambda: curves([1, 2, 4], {"n²": [1, 4, 16]}, xlog=True, ylog=True, markers=True),
    "shares": lambda: figures.shares(
        {"one": {"a": 0.6, "b": 0.4}, "two": {"a": 0.5}}, xlabel="share", marks=[(0.7, "u")]
    ),
    "arcs": lambda: figures.arcs(["the", "cat", "sat"], [0.2, 0.7, 0.1], title="One head"),
    "arrows": lambda: figures.arrows({"q": (1, 2), "k": (-1, 0.5)}, xlabel="x", ylabel="y"),
    "circles": lambda: figures.circles({"fast": {"0": 0, "1": 1.0}, "slow": {"1": 0.1}}, swept=[7, 0.1]),
    "flow": lambda: flow([("norm", "(T, E)"), (["gate", "up", ""], "(T, F)"), ("⊙", "")], residuals=[(0, 2)]),
}
each_drawing = pytest.mark.parametrize("name", DRAWINGS)


@functools.cache
def drawn(name):
    return DRAWINGS[name]()


@each_drawing
def test_the_same_input_gives_the_same_bytes(name):
    svg = drawn(name).svg
    assert DRAWINGS[name]()._repr_mimebundle_() == {"image/svg+xml": svg, "text/plain": "<figure>"}
    assert svg.startswith("<svg")
    for text in ("<metadata", "dc:date", "<image", "<text", "matplotlib.org"):
        assert text not in svg


@each_drawing
def test_it_fits_a_page(name):
    width, height = size(drawn(name))
    assert 50 < width <= 7 * 72
    assert 25 < height <= 9 * 72


def size(drawing):
    """Width and height in points."""
    return [float(number) for number in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawing.svg).groups()]


@each_drawing
def test_the_background_is_transparent(name):
    patches = re.findall(r'<g id="patch_1">\s*<path [^>]*style="([^"]*)"', drawn(name).svg)
    assert all("fill: none" in style or "opacity: 0" in style for style in patches)


def test_nothing_is_left_behind():
    before = dict(matplotlib.rcParams)
    DRAWINGS["curves"]()
    DRAWINGS["matrices"]()
    assert dict(matplotlib.rcParams) == before


def test_imports_are_light():
    code = (
        "import plaincourse, sys; assert 'matplotlib' not in sys.modules; from plaincourse import figures; "
    )
    code += "figures.bars(['a'], [1], xlabel='x'); assert 'matplotlib.pyplot' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_input_is_left_alone():
    table = TABLE.copy()
    figures.matrix(table, kind="weights")
    assert (table == TABLE).all()


# ---- legible for everyone, in light and dark


def luminance(rgb):
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def in_the_dark(rgb):
    """CSS: invert(1) hue-rotate(180deg)."""
    rotate = np.array([[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]])
    return np.clip(rotate @ (1 - rgb), 0, 1)


@pytest.mark.parametrize("view", [lambda rgb: rgb, in_the_dark], ids=["light", "dark"])
def test_numbers_stand_out_on_every_shade(view):
    ink = view(np.array(matplotlib.colors.to_rgb(_style.INK)))
    fills = [
        colours(share)[:3] for colours in (_style.SIGNED, _style.WEIGHTS) for share in np.linspace(0, 1, 21)
    ]
    for fill in [*fills, matplotlib.colors.to_rgb(_style.DROPPED)]:
        assert contrast(ink, view(np.array(fill))) >= 4.5


def test_zero_is_white():
    assert _style.SIGNED(0.5)[:3] == pytest.approx((1, 1, 1), abs=0.01)


def test_nothing_is_told_by_colour_alone():
    for styles in (palette.DASHES, _style.HATCHES, _style.MARKERS):
        assert len(set(styles)) == len(styles) == len(palette.SERIES)


# ---- numbers as written


@pytest.mark.parametrize(
    ("values", "digits", "texts"),
    [
        ([1, -2, 0], None, ["1", "−2", "0"]),
        ([0.5, -2], None, ["0.5", "−2.0"]),
        ([1 / 3, -1e-9], None, ["0.33", "0.00"]),
        ([1 / 3, 1], 3, ["0.333", "1.000"]),
        ([-np.inf, 1], None, ["−∞", "1"]),
        ([True, False], None, ["1", "0"]),
    ],
)
def test_numbers_as_written(values, digits, texts):
    assert Grid(values=values, digits=digits).texts()[0].tolist() == texts


def test_a_long_line_goes_on_below():
    one, two = (
        size(figures.matrix(TABLE)),
        size(figures.matrices([Grid(values=TABLE), "+", Grid(values=TABLE)])),
    )
    assert two[1] > 1.9 * one[1] and two[0] < 1.5 * one[0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.matrix(TABLE[:2], rows=np.array(["a", "b"]), columns=np.arange(8)),
        lambda: figures.matrix(
            ROW, rows=("a",), highlight_columns=np.array([1]), title="$x_1$", columns=["$a", "b$", "$", "x_1"]
        ),
        lambda: figures.matrix([1e100, -1e100, 5e-324], digits=np.int64(0), numbers=True),
        lambda: figures.matrix([[5e-324, -5e-324]], numbers=False),
        lambda: figures.bars(np.array(["$a", "b"]), np.array([1, 2]), xlabel="$", faded=np.array([1])),
        lambda: curves(
            X, {"x²": X, "y": X}, points=np.array([(1, 2, "x")], dtype=object), title="two\nlines", ylog=False
        ),
        lambda: curves([0, 1e100], {"y": [-1e100, 1e100]}),
        lambda: flow([("$x", None)], residuals=[[0, np.int64(0)]]),
    ],
)
def test_what_can_be_drawn_is_drawn_without_a_warning(draw):
    assert draw().svg.startswith("<svg")


# ---- wrong input is named


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (
            lambda: figures.matrix([[1, 2], [3]]),
            TypeError,
            "values must be numbers of one regular shape, got list",
        ),
        (lambda: figures.matrix(["a"]), TypeError, "values must be numbers"),
        (lambda: figures.matrix([np.nan]), ValueError, "values must not hold NaN"),
        (lambda: figures.matrix([]), ValueError, r"values must be a matrix .* got shape \(0,\)"),
        (
            lambda: figures.matrix(np.zeros((2, 2, 2))),
            ValueError,
            r"values must be a matrix .* got shape \(2, 2, 2\)",
        ),
        (lambda: figures.matrix(np.zeros((50, 50))), ValueError, "values must have at most 200 cells"),
        (lambda: figures.matrix(ROW, kind="heat"), ValueError, "kind must be .* got 'heat'"),
        (lambda: figures.matrix(ROW, columns=["a"]), ValueError, "columns must have 4 entries, got 1"),
        (lambda: figures.matrix(ROW, rows=["a", "b"]), ValueError, "rows must have 1 entries, got 2"),
        (
            lambda: figures.matrix(ROW, highlight_columns=[4]),
            ValueError,
            "highlight_columns must be .* from 0 to 3, got 4",
        ),
        (lambda: figures.matrices(["="]), ValueError, "parts must hold at least one Grid"),
        (
            lambda: figures.matrices([Grid(values=ROW), 3]),
            TypeError,
            "parts must be Grids and strings, got int",
        ),
        (
            lambda: figures.product(*[Grid(values=TABLE)] * 3),
            ValueError,
            r"result must be \(4, 8\) and right \(8, 8\)",
        ),
        (lambda: figures.bars(["a"], [1, 2], xlabel="x"), ValueError, "values must have 1 entries, got 2"),
        (
            lambda: figures.bars(["a"], [np.inf], xlabel="x"),
            ValueError,
            "values must be a list of finite numbers",
        ),
        (
            lambda: figures.bars(["a"], {}, xlabel="x"),
            ValueError,
            "values must be a dict of 1 to 6 named series, got 0",
        ),
        (
            lambda: figures.bars(["a"], [1], xlabel="x", faded=[1]),
            ValueError,
            "faded must be a whole number from 0 to 0, got 1",
        ),
        (lambda: curves(X, {"y": X[1:]}), ValueError, r"lines\['y'\] must have 61 entries, got 60"),
        (lambda: curves(X, [X]), ValueError, "lines must be a dict"),
        (lambda: curves(X, {"y": X}, xlog=True), ValueError, "x must be positive on a logarithmic axis"),
        (lambda: curves([1], {"y": [0]}, ylog=True), ValueError, "y must be positive"),
        (
            lambda: figures.circles({"a": {"0": 0}}, swept=[1, 2]),
            ValueError,
            "swept must have 1 entries, got 2",
        ),
        (
            lambda: figures.circles({"a": {"0": np.nan}}),
            ValueError,
            r"panels\['a'\] must not hold NaN",
        ),
        (lambda: flow([]), ValueError, "steps must not be empty"),
        *[
            (
                functools.partial(figures.matrix, ROW, digits=digits),
                ValueError,
                "digits must be a whole number from 0 to 12, got ",
            )
            for digits in (-1, "a", 2.0, 10**6, True)
        ],
        (
            lambda: figures.bars(["a"], [1], xlabel="x", digits="a"),
            ValueError,
            "digits must be a whole number from 0 to 12, got 'a'",
        ),
        (lambda: figures.matrix(ROW, rows=5), TypeError, "rows must be a list, got int"),
        (lambda: figures.matrix(ROW, highlight_rows=0), TypeError, "highlight_rows must be a list, got int"),
        *[
            (
                functools.partial(figures.matrix, ROW, highlight_columns=(place,)),
                ValueError,
                "highlight_columns must be a whole number from 0 to 3, got ",
            )
            for place in ("a", 0.5, 0.0, -1, None)
        ],
        (
            lambda: figures.bars(["a"], [1], xlabel="x", faded=[0.0]),
            ValueError,
            "faded must be a whole number from 0 to 0, got 0.0",
        ),
        (lambda: figures.bars(5, [1], xlabel="x"), TypeError, "labels must be a list, got int"),
        (lambda: curves(X, 5), ValueError, "lines must be a dict of 1 to 6 named series, got int"),
        (lambda: figures.bars(["a"], 5, xlabel="x"), ValueError, r"values must be a list .* got shape \(\)"),
        *[
            (
                functools.partial(curves, X, {name: X, "y": X}),
                ValueError,
                "lines must have names that are text and do not begin with _, got ",
            )
            for name in ("_x", None, 3)
        ],
        (
            lambda: figures.bars(["a"], {"_x": [1], "y": [1]}, xlabel="x"),
            ValueError,
            "values must have names .* got '_x'",
        ),
        *[
            (functools.partial(curves, X, {"y": X}, points=points), ValueError, "points must be")
            for points in (
                [(1, 2)],
                [(1, 2, "a", 3)],
                [(1, np.nan, "a")],
                [5],
                [("1", 2, "a")],
                [(1, 2, "a", (1, "b"))],
            )
        ],
        (lambda: curves(X, {"y": X}, points=5), TypeError, "points must be a list, got int"),
        (
            lambda: figures.matrix(ROW, title="$x_$"),
            ValueError,
            r"a label must hold a formula between two \$, got \['x_'\]",
        ),
        (lambda: figures.product(ROW, TABLE, ROW @ TABLE), TypeError, "left must be a Grid, got list"),
        (lambda: flow([([], "x")]), ValueError, r"steps must be \(text, shape\) pairs, got \(\[\], 'x'\)"),
        (lambda: flow([("a",)]), ValueError, "steps must be .* pairs, got"),
        (lambda: flow(["ab"]), ValueError, "steps must be .* pairs, got 'ab'"),
        (lambda: flow(5), TypeError, "steps must be a list, got int"),
        (lambda: flow([("a", "")], residuals=[0]), ValueError, r"residuals .* got 0"),
        (lambda: flow([("a", "")], residuals=[(0.0, 0)]), ValueError, r"residuals .* got \(0.0, 0\)"),
        (lambda: figures.matrix([1j]), TypeError, "values must be numbers"),
        (lambda: figures.matrix(["1"]), TypeError, "values must be numbers"),
        (lambda: figures.matrix([10**400]), TypeError, "values must be numbers"),
        *[
            (draw, ValueError, "must be numbers of at most 1e\\+100 in size")
            for draw in (
                lambda: figures.matrix([1e308, -1e308]),
                lambda: figures.bars(["a"], [1e308], xlabel="x"),
                lambda: curves([0, 1e308], {"y": [-1e308, 1e308]}),
            )
        ],
        (
            lambda: figures.matrix(ROW, title="고양이"),
            ValueError,
            "'고양이' holds '고', which the font of the figures does not have; write its gloss in English",
        ),
        (lambda: figures.bars(["생선"], [1], xlabel="x"), ValueError, "'생선' holds '생'"),
        (lambda: flow([("먹다", "")]), ValueError, "'먹다' holds '먹'"),
        (lambda: flow([("a", "")], residuals=[(0, 1)]), ValueError, r"residuals .* got \(0, 1\)"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_wrong_input_is_named(draw, error, message):
    with pytest.raises(error, match=message):
        draw()
