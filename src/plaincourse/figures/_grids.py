"""Matrices, with numbers in their cells."""

from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.patches import Rectangle

from plaincourse.numerals import fixed
from plainformer.settings import whole

from . import _checks as checks
from ._style import DROPPED, INK, SHEET, SIGNED, WEIGHTS, formulas, sheet, styled, text_width

MOST_DIGITS = 12
WIDEST = 6.4  # inches, a line of the page; with its margins it stays below 7
HIGH, SMALL = 0.36, 0.3  # of a cell with a number, of one without
GAP = 0.2


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
        values = checks.numbers(self.values, "values")
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
        self.rows = checks.labels(self.rows, height, "rows")
        self.columns = checks.labels(self.columns, width, "columns")
        self.highlight_rows = checks.positions("Grid", "highlight_rows", self.highlight_rows, height)
        self.highlight_columns = checks.positions("Grid", "highlight_columns", self.highlight_columns, width)
        if self.digits is not None:
            self.digits = whole("Grid", "digits", self.digits, 0, MOST_DIGITS)

    @property
    def cell(self):
        """Width and height of one cell: room for the longest number and the longest column label."""
        if not self.numbers:
            side = min(SMALL, 4.5 / max(self.values.shape))
            return side, side
        texts = [text_width(text) + 0.14 for text in set(self.texts().ravel())]
        labels = [text_width(str(label), 10) + 0.06 for label in self.columns or []]
        return max(HIGH, *texts, *labels), HIGH

    def texts(self):
        """The numbers as written in the cells."""
        finite = self.values[np.isfinite(self.values)]
        digits = self.digits
        if digits is None:
            tried = (d for d in (0, 1, 2) if d == 2 or np.allclose(finite, np.round(finite, d), atol=1e-9))
            digits = next(tried)
        return np.array([[fixed(value, digits) for value in row] for row in self.values])

    def draw(self, axes):
        """Colours, numbers and labels."""
        height, width = self.values.shape
        limit = max(np.abs(self.values[np.isfinite(self.values)]), default=0) or 1.0
        colours, low, high = (SIGNED, -limit, limit) if self.kind == "signed" else (WEIGHTS, 0.0, 1.0)
        shades = colours((np.clip(self.values, low, high) - low) / (high - low))
        shades[np.isinf(self.values)] = matplotlib.colors.to_rgba(DROPPED)
        for (i, j), text in np.ndenumerate(self.texts()):
            look = {"facecolor": shades[i, j], "edgecolor": "#bbbbbb", "linewidth": 0.5}
            axes.add_patch(Rectangle((j, i), 1, 1, **look))
            if self.numbers:
                axes.text(j + 0.5, i + 0.5, text, ha="center", va="center_baseline")
        frame = {"fill": False, "edgecolor": INK, "linewidth": 2.2, "zorder": 3}
        for i in self.highlight_rows:
            axes.add_patch(Rectangle((0, i), width, 1, **frame))
        for j in self.highlight_columns:
            axes.add_patch(Rectangle((j, 0), 1, height, **frame))
        for part in axes.patches + axes.texts:
            part.set_clip_on(False)
        axes.set(xlim=(0, width), ylim=(height, 0), title=self.title or "")
        axes.spines[:].set_visible(False)
        axes.set_xticks(np.arange(width) + 0.5 if self.columns else [], self.columns or [])
        axes.set_yticks(np.arange(height) + 0.5 if self.rows else [], self.rows or [])
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.set_xlabel(self.column_axis or "", labelpad=3)
        axes.set_ylabel(self.row_axis or "", labelpad=3)


class Placed:
    """A grid drawn on a sheet: its size, the room that its labels take on each side, and where it is put."""

    def __init__(self, figure, grid, cell=None):
        wide, high = cell or grid.cell
        rows, columns = grid.values.shape
        self.width, self.height = wide * columns, high * rows
        self.axes = figure.add_axes((0, 0, 1, 1))
        grid.draw(self.axes)
        self.put(SHEET / 2, SHEET / 2)
        with formulas():
            box = self.axes.get_tightbbox().transformed(figure.dpi_scale_trans.inverted())
        self.left, self.below = SHEET / 2 - box.x0, SHEET / 2 - box.y0
        self.right, self.above = box.x1 - SHEET / 2 - self.width, box.y1 - SHEET / 2 - self.height

    @property
    def room(self):
        """The width with the labels."""
        return self.left + self.width + self.right

    def put(self, x, y):
        """Put the lower left corner of the cells here, in inches."""
        self.axes.set_position([part / SHEET for part in (x, y, self.width, self.height)])


def matrix(values, **options):
    """One matrix as a heat map with its numbers in the cells. The options are those of :class:`Grid`."""
    return matrices([Grid(values=values, **options)])


@styled
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
    figure = sheet()
    lines = wrapped([Placed(figure, part) if isinstance(part, Grid) else part for part in parts])
    top = SHEET
    for line in lines:
        grids = [part for part in line if isinstance(part, Placed)]
        above = max(grid.height / 2 + grid.above for grid in grids)
        below = max(grid.height / 2 + grid.below for grid in grids)
        in_line(figure, line, top - above)
        top -= above + below + GAP
    return figure


def in_line(figure, line, middle):
    """Put grids and signs beside one another, each with its middle at this height."""
    x = 0.0
    for part in line:
        if isinstance(part, Placed):
            part.put(x + part.left, middle - part.height / 2)
        else:
            place = (x + room(part) / 2) / SHEET, middle / SHEET
            figure.text(*place, part, ha="center", va="center", fontsize=15)
        x += room(part)


def room(part):
    """The width that a grid or a sign takes in a line."""
    return part.room if isinstance(part, Placed) else text_width(part, 15) + GAP


def wrapped(parts):
    """Split the parts into lines no wider than WIDEST; a sign moves down with the grid after it, and grids
    without a sign stand apart.
    """
    lines, signs = [[]], []
    for part in parts:
        if isinstance(part, str):
            signs.append(part)
            continue
        apart = [""] if lines[-1] and not signs else signs
        if lines[-1] and sum(map(room, [*lines[-1], *apart, part])) > WIDEST:
            lines.append([])
            apart = signs
        lines[-1] += [*apart, part]
        signs = []
    lines[-1] += signs
    return lines


@styled
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
    figure, cell = sheet(), (max(right.cell[0], result.cell[0]), HIGH)
    left, right, result = Placed(figure, left), Placed(figure, right, cell), Placed(figure, result, cell)
    x, y = SHEET / 2, SHEET / 2
    result.put(x, y)
    left.put(x - max(result.left, right.left) - GAP - left.right - left.width, y)
    right.put(x, y + result.height + max(left.above, result.above) + GAP / 2 + right.below)
    return figure
