"""The book's figures: a few general helpers and one style.

Every helper takes arrays and returns a :class:`Drawing`, which a notebook shows as SVG. The same input gives
the same bytes. Nothing is told apart by colour alone, the background is transparent and text stays dark on
every fill, so that the book may invert a figure on a dark page. Sizes are in inches.
"""

import io
import math
import warnings
from dataclasses import dataclass
from functools import cache

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.text import Text

from plainformer.settings import whole

INK = "#1f1f1f"
QUIET = "#6b6b6b"
# The palette of Okabe and Ito, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, PINK, SKY, VERMILION = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"
COLOURS = [BLUE, VERMILION, GREEN, PINK, ORANGE, SKY]
DASHES = ["-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3))]
MARKERS = ["o", "s", "^", "D", "v", "P"]
HATCHES = ["", "////", "\\\\\\\\", "xxxx", "----", "||||"]
# The ends stay light enough for dark numbers; zero is white, in print and on screen.
SIGNED = LinearSegmentedColormap.from_list("signed", ["#f2a16b", "#ffffff", "#6aaed6"])
WEIGHTS = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#6aaed6"])
DROPPED = "#d9d9d9"

MOST_DIGITS = 12
LARGEST = 1e100  # Matplotlib's own sums overflow long before the largest float
WIDEST = 6.4  # one line of a figure; with its margins it stays below 7
STYLE = {
    "font.family": "DejaVu Sans", "font.size": 11, "text.color": INK,
    "axes.edgecolor": QUIET, "axes.labelcolor": INK, "axes.titlesize": 11, "axes.labelsize": 11,
    "axes.spines.top": False, "axes.spines.right": False, "axes.unicode_minus": True,
    "xtick.color": INK, "ytick.color": INK, "xtick.labelsize": 10, "ytick.labelsize": 10,
    "legend.frameon": False, "legend.fontsize": 10.5, "lines.linewidth": 2, "hatch.linewidth": 0.6,
    "svg.hashsalt": "plain", "svg.fonttype": "path",
}  # fmt: skip


class Drawing:
    """A finished figure. `svg` is its text; a notebook shows it by itself."""

    def __init__(self, figure):
        text = io.StringIO()
        nothing = dict.fromkeys(
            ["Date", "Creator", "Format", "Type"]
        )  # no date and no version: same input, same bytes
        with matplotlib.rc_context(STYLE), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph")  # _legible says it, and what to do
            try:
                figure.savefig(
                    text,
                    format="svg",
                    transparent=True,
                    bbox_inches="tight",
                    pad_inches=0.06,
                    metadata=nothing,
                )
            except ValueError as error:  # Matplotlib's, whose first line is the formula
                raise ValueError(
                    f"a label must hold a formula between two $, got {str(error).split(chr(10))[1:2]}"
                ) from None
        _legible(figure)
        whole = text.getvalue()
        self.svg = whole[whole.index("<svg") :]

    def __repr__(self):
        return "<figure>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}


@dataclass(kw_only=True)
class Grid:
    """One matrix of a figure: its numbers, and what to write around them.

    values: (rows, columns), or (columns,) for a single row; booleans and −inf are allowed, NaN is not.
    kind: "signed" colours around zero, "weights" from 0 to 1. digits: decimals, or None for the fewest that
    tell the numbers (two at most). numbers=False leaves the cells empty, for matrices too large to read.
    highlight_rows and highlight_columns: positions to frame.
    """

    values: object
    title: str | None = None
    rows: list | None = None
    columns: list | None = None
    row_axis: str | None = None
    column_axis: str | None = None
    kind: str = "signed"
    digits: int | None = None
    numbers: bool = True
    highlight_rows: tuple = ()
    highlight_columns: tuple = ()

    def __post_init__(self):
        values = _numbers(self.values, "values")
        self.values = np.atleast_2d(values)
        if self.values.ndim != 2 or self.values.size == 0:
            raise ValueError(
                f"values must be a matrix or a single row, with at least one number, got shape {values.shape}"
            )
        if self.kind not in ("signed", "weights"):
            raise ValueError(f'kind must be "signed" or "weights", got {self.kind!r}')
        height, width = self.values.shape
        most = 200 if self.numbers else 2000
        if self.values.size > most:
            raise ValueError(
                f"values must have at most {most} cells with numbers={self.numbers}, got {self.values.size}"
            )
        self.rows = _labels(self.rows, height, "rows")
        self.columns = _labels(self.columns, width, "columns")
        self.highlight_rows = _positions(self.highlight_rows, height, "highlight_rows")
        self.highlight_columns = _positions(self.highlight_columns, width, "highlight_columns")
        if self.digits is not None:
            self.digits = whole("figures", "digits", self.digits, 0, MOST_DIGITS)

    @property
    def cell(self):
        """Width and height of one cell."""
        if not self.numbers:
            side = min(0.3, 4.5 / max(self.values.shape))
            return side, side
        longest = max(len(text) for text in self.texts().ravel())
        label = max((len(str(label)) for label in self.columns or []), default=0)
        return max(0.42, 0.11 * longest + 0.14, 0.08 * label), 0.36

    @property
    def margins(self):
        """Room for the labels: left, right, above, below."""
        labels = max((len(str(label)) for label in self.rows or []), default=0)
        left = (0.09 * labels + 0.1 if self.rows else 0) + (0.26 if self.row_axis else 0)
        above = (0.3 if self.title else 0) + (0.24 if self.columns else 0)
        return left, 0.04, above, 0.28 if self.column_axis else 0.04

    @property
    def size(self):
        """Width and height with the labels."""
        (wide, high), (left, right, above, below) = self.cell, self.margins
        needed = 0.1 * len(self.title or "")
        return (
            max(left + wide * self.values.shape[1] + right, needed),
            above + high * self.values.shape[0] + below,
        )

    def texts(self):
        """The numbers as written in the cells."""
        finite = self.values[np.isfinite(self.values)]
        digits = self.digits
        if digits is None:
            digits = next(
                d for d in (0, 1, 2) if d == 2 or np.allclose(finite, np.round(finite, d), atol=1e-9)
            )
        return np.array([[_written(value, digits) for value in row] for row in self.values])

    def draw(self, axes):
        """Colours, numbers and labels, in axes of the right size."""
        height, width = self.values.shape
        limit = max(np.abs(self.values[np.isfinite(self.values)]), default=0) or 1.0
        colours, low, high = (SIGNED, -limit, limit) if self.kind == "signed" else (WEIGHTS, 0.0, 1.0)
        shades = colours((np.clip(self.values, low, high) - low) / (high - low))
        shades[np.isinf(self.values)] = matplotlib.colors.to_rgba(DROPPED)
        texts = self.texts() if self.numbers else None
        for i in range(height):
            for j in range(width):
                axes.add_patch(
                    Rectangle((j, i), 1, 1, facecolor=shades[i, j], edgecolor="#bbbbbb", linewidth=0.5)
                )
                if self.numbers:
                    axes.text(j + 0.5, i + 0.5, texts[i, j], ha="center", va="center_baseline")
        for i in self.highlight_rows:
            axes.add_patch(Rectangle((0, i), width, 1, fill=False, edgecolor=INK, linewidth=2.2, zorder=3))
        for j in self.highlight_columns:
            axes.add_patch(Rectangle((j, 0), 1, height, fill=False, edgecolor=INK, linewidth=2.2, zorder=3))
        axes.set(xlim=(0, width), ylim=(height, 0))
        self._label(axes)

    def _label(self, axes):
        height, width = self.values.shape
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_xticks(np.arange(width) + 0.5 if self.columns else [], self.columns or [])
        axes.set_yticks(np.arange(height) + 0.5 if self.rows else [], self.rows or [])
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        if self.title:
            axes.set_title(self.title, pad=22 if self.columns else 5)
        axes.set_xlabel(self.column_axis or "", labelpad=3)
        axes.set_ylabel(self.row_axis or "", labelpad=3)
        for part in axes.patches + axes.texts:
            part.set_clip_on(False)


def matrix(values, **options):
    """One matrix as a heat map with its numbers in the cells. The options are those of :class:`Grid`."""
    return matrices([Grid(values=values, **options)])


def matrices(parts):
    """Matrices in one figure, with the signs between them: ``matrices([Grid(values=x), "·",
    Grid(values=w)])``.

    parts: Grids, and short strings such as "·", "+" or "=". A line that would grow too wide goes on below.
    """
    parts = list(parts)
    if not any(isinstance(part, Grid) for part in parts):
        raise ValueError("parts must hold at least one Grid")
    for part in parts:
        if not isinstance(part, Grid | str):
            raise TypeError(f"parts must be Grids and strings, got {type(part).__name__}")
    lines = _wrapped(parts)
    width = max(sum(_width(part) for part in line) for line in lines)
    heights = [max(part.size[1] for part in line if isinstance(part, Grid)) for line in lines]
    total = sum(heights) + 0.2 * (len(lines) - 1)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, total))
        top = total
        for line, height in zip(lines, heights, strict=True):
            _place(figure, line, top, height)
            top -= height + 0.2
    return Drawing(figure)


def product(left, right, result):
    """A matrix product as by hand: `right` on top, `left` at the side, and where a row meets a column, the
    `result`.

    left: a Grid of (T, D), right: of (D, F), result: of (T, F), all three drawn with numbers.
    """
    for part, name in ((left, "left"), (right, "right"), (result, "result")):
        if not isinstance(part, Grid):
            raise TypeError(f"{name} must be a Grid, got {type(part).__name__}")
    (t, d), (d2, f) = left.values.shape, right.values.shape
    if d != d2 or result.values.shape != (t, f):
        raise ValueError(
            f"result must be ({t}, {f}) and right ({d}, {f}), got {result.values.shape} and ({d2}, {f})"
        )
    wide, high = max(right.cell[0], result.cell[0]), result.cell[1]
    across = left.margins[0] + left.cell[0] * d + 0.2 + max(right.margins[0], result.margins[0])
    above = max(left.margins[2], result.margins[2]) + 0.12
    below = max(left.margins[3], result.margins[3])
    width = across + wide * f + 0.04
    total = right.margins[2] + high * d + right.margins[3] + above + high * t + below
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, total))

        def axes(x, y, columns, cell, rows):
            return figure.add_axes((x / width, y / total, columns * cell / width, rows * high / total))

        left.draw(axes(left.margins[0], below, d, left.cell[0], t))
        right.draw(axes(across, total - right.margins[2] - high * d, f, wide, d))
        result.draw(axes(across, below, f, wide, t))
    return Drawing(figure)


def _place(figure, line, top, height):
    """Draw one line of grids and signs, whose upper edge is at `top`, the grids centred on one another."""
    width, total = figure.get_size_inches()
    above = max(part.margins[2] for part in line if isinstance(part, Grid))
    tallest = max(part.cell[1] * part.values.shape[0] for part in line if isinstance(part, Grid))
    middle = top - above - tallest / 2
    x = 0.0
    for part in line:
        if isinstance(part, str):
            figure.text(
                (x + _width(part) / 2) / width, middle / total, part, ha="center", va="center", fontsize=15
            )
        else:
            (wide, high), (rows, columns) = part.cell, part.values.shape
            inner = part.margins[0] + wide * columns + part.margins[1]
            left = x + (part.size[0] - inner) / 2 + part.margins[0]
            box = [
                left / width,
                (middle - high * rows / 2) / total,
                wide * columns / width,
                high * rows / total,
            ]
            part.draw(figure.add_axes(box))
        x += _width(part)


def _wrapped(parts):
    """Split the parts into lines no wider than WIDEST; a sign moves down with the grid after it."""
    lines, signs = [[]], []
    for part in parts:
        if isinstance(part, str):
            signs.append(part)
            continue
        addition = [*signs, part]
        if lines[-1] and sum(map(_width, lines[-1] + addition)) > WIDEST:
            lines.append([])
        lines[-1] += addition
        signs = []
    lines[-1] += signs
    return lines


def _width(part):
    return part.size[0] if isinstance(part, Grid) else 0.22 + 0.13 * len(part)


def bars(labels, values, *, xlabel, digits=2, title=None, faded=()):
    """Horizontal bars, the first on top, each with its number.

    labels: one a bar. values: one a label, or ``{name: values}`` for two or more series side by side, which
    differ by colour and hatching. xlabel: what the length means, with its unit. faded: positions drawn empty,
    such as dropped words.
    """
    labels = [str(label) for label in _list(labels, "labels")]
    digits = whole("figures", "digits", digits, 0, MOST_DIGITS)
    series = values if isinstance(values, dict) else {"": values}
    _few(series, "values", len(HATCHES))
    series = {name: _finite(one, "values", len(labels)) for name, one in series.items()}
    faded = _positions(faded, len(labels), "faded")
    thick = 0.76 / len(series)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.2, 0.55 + len(labels) * (0.14 + 0.22 * len(series))))
        axes = figure.add_subplot()
        for i, (name, numbers) in enumerate(series.items()):
            places = np.arange(len(labels)) + (i - (len(series) - 1) / 2) * thick
            look = {"color": COLOURS[i], "hatch": HATCHES[i], "edgecolor": INK, "alpha": 0.75}
            drawn = axes.barh(places, numbers, thick * 0.92, label=name, **look)
            for place in faded:
                drawn[place].set(facecolor="none", linestyle=":")
            axes.bar_label(drawn, [_written(number, digits) for number in numbers], padding=4, fontsize=10)
        axes.set_yticks(range(len(labels)), labels)
        axes.set(xlabel=xlabel, ylim=(len(labels) - 0.5, -0.5))
        axes.set_title(title or "", pad=28 if isinstance(values, dict) else 6)
        axes.tick_params(axis="y", length=0)
        axes.margins(x=0.2)
        axes.axvline(0, color=QUIET, linewidth=0.8)
        if isinstance(values, dict):
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(series))
    return Drawing(figure)


def curves(x, lines, *, xlabel, ylabel, title=None, points=(), xlog=False, ylog=False, markers=False):
    """Lines over a common x, told apart by colour and dashes.

    x: (n,). lines: ``{name: y}``, each y (n,). points: (x, y, text) triples, marked and labelled; a fourth
    entry (x, y) says where the text begins, if beside its point it would cover a line. xlog and ylog:
    logarithmic axes. markers: mark every value, for measurements rather than functions.
    """
    x = _finite(x, "x")
    _few(lines, "lines", len(DASHES))
    lines = {name: _finite(y, f"lines[{name!r}]", len(x)) for name, y in lines.items()}
    points = [_point(point) for point in _list(points, "points")]
    for axis, log, numbers in [("x", xlog, [x]), ("y", ylog, list(lines.values()))]:
        if log and min(part.min() for part in numbers) <= 0:
            raise ValueError(f"{axis} must be positive on a logarithmic axis")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5.2, 3.4))
        axes = figure.add_subplot()
        for i, (name, y) in enumerate(lines.items()):
            axes.plot(
                x,
                y,
                color=COLOURS[i],
                linestyle=DASHES[i],
                marker=MARKERS[i] if markers else None,
                label=name,
            )
        axes.set(
            xlabel=xlabel,
            ylabel=ylabel,
            xscale="log" if xlog else "linear",
            yscale="log" if ylog else "linear",
        )
        if not (xlog or ylog):
            axes.axhline(0, color=QUIET, linewidth=0.8, zorder=0)
        for (px, py), text, place in points:
            axes.plot([px], [py], "o", color=INK, markersize=6, zorder=4)
            halo = [withStroke(linewidth=3, foreground="#ffffff")]
            low = py < sum(axes.get_ylim()) / 2
            where = {"xytext": (8, 10 if low else -14), "textcoords": "offset points"}
            if place:
                leader = {"arrowstyle": "-", "color": QUIET, "shrinkB": 4}
                where = {"xytext": place[0], "arrowprops": leader}
            axes.annotate(text, (px, py), **where, path_effects=halo, zorder=5)
        axes.grid(True, color="#e4e4e4", linewidth=0.7)
        axes.set_axisbelow(True)
        if xlog and len(x) <= 8:
            axes.set_xticks(x, [f"{value:,g}" for value in x])
            axes.set_xticks([], minor=True)
        axes.set_title(title or "", pad=6 + 20 * math.ceil(len(lines) / 3) if len(lines) > 1 else 6)
        if len(lines) > 1:
            axes.legend(
                loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(lines), 3), handlelength=2.8
            )
    return Drawing(figure)


def flow(steps, *, start, end, residuals=()):
    """Boxes from top to bottom, joined by arrows that carry shapes.

    steps: (text, shape) pairs, the shape written beside the arrow that leaves the box; a list of texts makes
    boxes side by side, and "" in it a plain line. start and end: what goes in and comes out. residuals:
    (first, last) positions of steps; a side path carries what enters `first` around to a ⊕ after `last`.
    """
    steps = [_step(step) for step in _list(steps, "steps")]
    if not steps:
        raise ValueError("steps must not be empty")
    residuals = [_span(pair, len(steps)) for pair in _list(residuals, "residuals")]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(1, 1))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.text(0, 0.06, start, ha="center", va="bottom")
        outlets, y, entries = [0.0], 0.0, []
        for i, (texts, shape) in enumerate(steps):
            entries.append(y)
            inlets = _boxes(axes, texts, y - 0.45)
            _arrows(axes, outlets, y, inlets, y - 0.45, heads=[bool(text) for text in texts])
            outlets, y = inlets, y - 0.87
            axes.text(max(outlets) + 0.12, y - 0.22, shape or "", va="center", color=QUIET, fontsize=10.5)
            for first, last in residuals:
                if last == i:
                    y = _residual(axes, outlets, y, entries[first], _widest(steps[first : last + 1]))
                    outlets = [0.0]
        _arrows(axes, outlets, y, [0.0], y - 0.45)
        axes.text(0, y - 0.51, end, ha="center", va="top")
        _fit(figure, axes, _widest(steps) / 2 + 0.5, y - 0.75)
    return Drawing(figure)


def _box_width(text):
    return max(1.2, 0.095 * len(text) + 0.3)


def _widest(steps):
    return max(sum(map(_box_width, texts)) + 0.3 * (len(texts) - 1) for texts, _ in steps)


def _boxes(axes, texts, top):
    """Draw boxes side by side below `top` and return the middle of each."""
    widths = [_box_width(text) for text in texts]
    x = -(sum(widths) + 0.3 * (len(widths) - 1)) / 2
    middles = []
    for text, width in zip(texts, widths, strict=True):
        middles.append(x + width / 2)
        if text:
            shape = "round,pad=0,rounding_size=0.06"
            axes.add_patch(
                FancyBboxPatch((x, top - 0.42), width, 0.42, shape, facecolor="#dcebf7", edgecolor=INK)
            )
            axes.text(middles[-1], top - 0.21, text, ha="center", va="center")
        else:
            axes.plot([middles[-1]] * 2, [top, top - 0.42], color=INK, linewidth=1)
        x += width + 0.3
    return middles


def _arrows(axes, sources, upper, targets, lower, heads=(True,)):
    """One arrow for each pair if there are as many of both, else from each source to each target."""
    together = len(sources) == len(targets)
    for i, source in enumerate(sources):
        for j, target in enumerate(targets):
            if i == j or not together:
                style = {"arrowstyle": "-|>" if heads[j] else "-", "color": INK, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", (target, lower), (source, upper), arrowprops=style)


def _residual(axes, outlets, y, entry, width):
    """Draw the side path that leaves at `entry`, and the ⊕ where it comes back; returns the new lower
    edge.
    """
    side, middle = -width / 2 - 0.3, y - 0.58
    path = {"color": ORANGE, "linewidth": 2.4, "linestyle": "--"}
    axes.plot([0, side, side], [entry - 0.12, entry - 0.12, middle], **path)
    axes.annotate(
        "",
        (-0.14, middle),
        (side, middle),
        arrowprops=path | {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0},
    )
    _arrows(axes, outlets, y, [0.0], middle + 0.14)
    axes.plot(
        [0], [middle], "o", markersize=19, markerfacecolor="#ffffff", markeredgecolor=INK, markeredgewidth=1.2
    )
    axes.plot([0], [middle], "+", markersize=11, color=INK, markeredgewidth=1.6)
    return middle - 0.14


def _fit(figure, axes, half, bottom):
    """Make one unit of the axes one inch."""
    figure.set_size_inches(2 * half, 0.4 - bottom)
    axes.set(xlim=(-half, half), ylim=(bottom, 0.4))


def _written(value, digits):
    """A number as the book writes it: fixed digits, a true minus sign, never −0."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if not float(text) else text.replace("-", "−")


def _numbers(values, name):
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(array.dtype)
        array = array.astype(float)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise TypeError(
            f"{name} must be numbers of one regular shape, got {type(values).__name__}"
        ) from error
    if np.isnan(array).any():
        raise ValueError(f"{name} must not hold NaN")
    if (np.abs(array[np.isfinite(array)]) > LARGEST).any():
        raise ValueError(f"{name} must be numbers of at most {LARGEST:g} in size")
    return array


def _finite(values, name, length=None):
    array = _numbers(values, name)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a list of finite numbers, at least one, got shape {array.shape}")
    _same_length(array, length, name)
    return array


def _same_length(labels, length, name):
    if labels is not None and length is not None and len(labels) != length:
        raise ValueError(f"{name} must have {length} entries, got {len(labels)}")


def _list(values, name):
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{name} must be a list, got {type(values).__name__}") from None


def _labels(labels, length, name):
    if labels is None:
        return None
    labels = _list(labels, name)
    _same_length(labels, length, name)
    return labels


def _positions(positions, length, name):
    return [whole("figures", name, position, 0, length - 1) for position in _list(positions, name)]


def _few(series, name, most):
    if not isinstance(series, dict) or not 1 <= len(series) <= most:
        found = len(series) if isinstance(series, dict) else type(series).__name__
        raise ValueError(f"{name} must be a dict of 1 to {most} named series, got {found}")
    for key in series:
        if not isinstance(key, str) or key.startswith("_"):  # Matplotlib leaves such names out of the legend
            raise ValueError(f"{name} must have names that are text and do not begin with _, got {key!r}")


def _point(point):
    """A point as (x, y), its text, and a list with the place where the text begins, if that is given."""
    try:
        x, y, text, *place = point
        where, *place = [_finite(pair, "points", 2) for pair in ((x, y), *place)]
        if len(place) > 1:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(
            f"points must be (x, y, text) or (x, y, text, (x, y)) with finite numbers, got {point!r}"
        ) from None
    return where, text, place


def _step(step):
    """A step as the texts of its boxes, one or more, and the shape beside the arrow."""
    if isinstance(step, list | tuple) and len(step) == 2:
        texts, shape = step
        texts = [texts] if isinstance(texts, str) else texts
        if isinstance(texts, list | tuple) and texts and all(isinstance(text, str) for text in texts):
            return list(texts), shape
    raise ValueError(f"steps must be (text, shape) pairs, got {step!r}")


def _span(pair, count):
    """The first and the last position of a residual path."""
    try:
        first, last = _positions(pair, count, "residuals")
        if first > last:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(
            f"residuals must be (first, last) positions among {count} steps, got {pair!r}"
        ) from None
    return first, last


@cache
def _characters():
    """The characters that the figures' font has."""
    return set(map(chr, get_font(findfont(STYLE["font.family"])).get_charmap())) | {"\n"}


def _legible(figure):
    """ValueError if some text of a drawn figure would show as empty boxes."""
    for text in sorted({part.get_text() for part in figure.findobj(Text)}):
        for character in text:
            if character not in _characters():
                raise ValueError(
                    f"{text!r} holds {character!r}, which the font of the figures does not have; write its"
                    " gloss in English"
                )
