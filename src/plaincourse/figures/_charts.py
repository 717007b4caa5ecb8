"""Bars, curves, and shares of a whole."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from plaincourse import palette
from plaincourse.numerals import fixed
from plainformer.settings import number, whole

from . import _checks as checks
from ._grids import MOST_DIGITS
from ._style import FILLS, HATCHES, INK, MARKERS, QUIET, RULE, styled, text_width

WIDE = 5.2  # inches, a line of the page
ACROSS = 4.0  # inches, about: the axis from 0 to 1 in it


@styled
def bars(labels, values, *, xlabel, digits=2, title=None, faded=()):
    """Horizontal bars, the first on top, each with its number.

    labels: one a bar. values: one a label, or ``{name: values}`` for two or more series side by side, which
    differ by colour and hatching. xlabel: what the length means, with its unit. faded: positions drawn empty,
    such as dropped words.
    """
    labels = [str(label) for label in checks.listed(labels, "labels")]
    digits = whole("bars", "digits", digits, 0, MOST_DIGITS)
    series = values if isinstance(values, dict) else {"": values}
    checks.few(series, "values", len(HATCHES))
    series = {name: checks.finite(one, "values", len(labels)) for name, one in series.items()}
    faded = checks.positions("bars", "faded", faded, len(labels))
    figure = Figure(figsize=(WIDE, 0.8 + len(labels) * 0.25 * (len(series) + 0.5)), layout="constrained")
    axes = figure.add_subplot()
    thick = 0.76 / len(series)
    for i, (colour, _) in enumerate(palette.looks(series).values()):
        numbers = list(series.values())[i]
        places = np.arange(len(labels)) + (i - (len(series) - 1) / 2) * thick
        look = {"color": palette.LIGHT[colour], "hatch": HATCHES[i], "edgecolor": INK, "alpha": 0.75}
        drawn = axes.barh(places, numbers, thick * 0.92, label=list(series)[i], **look)
        for place in faded:
            drawn[place].set(facecolor="none", linestyle=":")
        axes.bar_label(drawn, [fixed(number, digits) for number in numbers], padding=4, fontsize=10)
    axes.set_yticks(range(len(labels)), labels)
    axes.set(xlabel=xlabel, ylim=(len(labels) - 0.5, -0.5), title=title or "")
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.2)  # for the numbers
    axes.axvline(0, color=QUIET, linewidth=0.8)
    if isinstance(values, dict):
        figure.legend(loc="outside upper center", ncols=len(series))
    return figure


@styled
def curves(x, lines, *, xlabel, ylabel, title=None, points=(), xlog=False, ylog=False, markers=False):
    """Lines over a common x, told apart by colour and dashes.

    x: (n,). lines: ``{name: y}``, each y (n,). points: (x, y, text) triples, marked and labelled; a fourth
    entry (x, y) says where the text begins, if beside its point it would cover a line. xlog and ylog:
    logarithmic axes. markers: mark every value, for measurements rather than functions.
    """
    x = checks.finite(x, "x")
    checks.few(lines, "lines", len(palette.SERIES))
    lines = {name: checks.finite(y, f"lines[{name!r}]", len(x)) for name, y in lines.items()}
    points = [checks.point(point) for point in checks.listed(points, "points")]
    for axis, log, numbers in [("x", xlog, [x]), ("y", ylog, list(lines.values()))]:
        if log and min(part.min() for part in numbers) <= 0:
            raise ValueError(f"{axis} must be positive on a logarithmic axis")
    figure = Figure(figsize=(WIDE, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for name, (colour, dash) in palette.looks(lines).items():
        look = {"color": palette.LIGHT[colour], "linestyle": palette.DASHES[dash]}
        axes.plot(x, lines[name], label=name, marker=MARKERS[dash] if markers else None, **look)
    scales = {"xscale": "log" if xlog else "linear", "yscale": "log" if ylog else "linear"}
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title or "", **scales)
    if not (xlog or ylog):
        axes.axhline(0, color=QUIET, linewidth=0.8, zorder=0)
    for point in points:
        mark(axes, *point)
    axes.grid(True, color=RULE, linewidth=0.7)
    axes.set_axisbelow(True)
    if xlog and len(x) <= 8:
        axes.set_xticks(x, [f"{value:,g}" for value in x])
        axes.set_xticks([], minor=True)
    if len(lines) > 1:
        figure.legend(loc="outside upper center", ncols=min(len(lines), 3), handlelength=2.8)
    return figure


def mark(axes, where, text, place):
    """A dot with a text beside it, or with a line to a text at another place."""
    axes.plot(*where, "o", color=INK, markersize=6, zorder=4)
    low = where[1] < sum(axes.get_ylim()) / 2
    look = {"xytext": (8, 10 if low else -14), "textcoords": "offset points"}
    if place:
        look = {"xytext": place[0], "arrowprops": {"arrowstyle": "-", "color": QUIET, "shrinkB": 4}}
    halo = [withStroke(linewidth=3, foreground="#ffffff")]
    axes.annotate(text, where, **look, path_effects=halo, zorder=5)


@styled
def shares(rows, *, xlabel, marks=()):
    """Shares laid end to end on a line from 0 to 1, a line for each row, the first on top.

    rows: ``{name: {label: share}}``. A label stands in its share where there is room for it. What the shares
    leave of 1 is drawn empty. marks: (place, text) pairs, drawn as lines through all rows, or as short ones
    above a single row.
    """
    marks = [(number("shares", "marks", place), str(text)) for place, text in checks.listed(marks, "marks")]
    figure = Figure(figsize=(WIDE, 0.85 + 0.55 * len(rows) + 0.25 * bool(marks)), layout="constrained")
    axes = figure.add_subplot()
    for row, (name, parts) in enumerate(rows.items()):
        widths = checks.finite(list(parts.values()), f"rows[{name!r}]")
        if widths.min() < 0 or widths.sum() > 1 + 1e-9:
            raise ValueError(
                f"rows[{name!r}] must hold shares of at least 0 and a sum of at most 1, got {parts}"
            )
        start = 0.0
        for place, (label, width) in enumerate(zip(parts, widths, strict=True)):
            fill = FILLS["probability"] if place % 2 == 0 else "#ffffff"
            axes.barh(row, width, 0.8, start, color=fill, edgecolor=INK, linewidth=0.8)
            if text_width(str(label)) < 0.9 * width * ACROSS:
                axes.text(start + width / 2, row, str(label), ha="center", va="center", fontsize=10)
            start += width
        axes.barh(row, 1 - start, 0.8, start, color="none", edgecolor=QUIET, linewidth=0.8, linestyle=":")
    for place, text in marks:
        axes.axvline(place, 0 if len(rows) > 1 else 0.8, 1, color=palette.LIGHT["mark"], linewidth=2)
        axes.annotate(text, (place, 1), (0, 3), ("data", "axes fraction"), "offset points", ha="center")
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set(xlabel=xlabel, xlim=(-0.005, 1.005), ylim=(len(rows) - 0.5, -0.5))
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure
