"""Words that read each other, arrows in the plane, and hands on circles."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, PathPatch
from matplotlib.path import Path

from plaincourse import palette
from plainformer.settings import whole

from . import _checks as checks
from ._style import INK, QUIET, RULE, styled, text_width

BETWEEN = 0.22  # inches from a word to the next
THICK = 11  # points, an arc of weight 1
DIAL = 1.75  # inches, a circle with its labels


@styled
def arcs(words, weights, *, reader=None, title=None):
    """What one word reads of the others: an arc to each, as thick as its weight, and the weight below it.

    words: (S,). weights: one a word, from 0 to 1. reader: the position of the word that reads, the last
    one if None. An arc for less than half a per cent is not drawn; the weight of the reader's own word is a
    number alone.
    """
    words = [str(word).strip() for word in checks.listed(words, "words")]
    weights = checks.finite(weights, "weights", len(words))
    if weights.min() < 0 or weights.max() > 1:
        raise ValueError(f"weights must be from 0 to 1, got {weights.min():g} to {weights.max():g}")
    reader = len(words) - 1 if reader is None else whole("arcs", "reader", reader, 0, len(words) - 1)
    widths = np.array([max(text_width(word), 0.3) for word in words])
    right = np.cumsum(widths + BETWEEN)
    middles = right - BETWEEN - widths / 2
    height = 0.35 + 0.16 * max(middles[reader] - middles[0], middles[-1] - middles[reader])
    figure = Figure(figsize=(right[-1] + 0.2, height + 0.75))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.1, right[-1] + 0.1), ylim=(-0.6, height + 0.15), title=title or "")
    axes.axis("off")
    for i, (word, weight, middle) in enumerate(zip(words, weights, middles, strict=True)):
        look = {"weight": "bold"} if i == reader else {}
        axes.text(middle, -0.1, word, ha="center", va="top", **look)
        axes.text(
            middle,
            -0.36,
            f"{weight:.2f}",
            ha="center",
            va="top",
            fontsize=10,
            color=INK if weight >= 0.005 else QUIET,
        )
        if i != reader and weight >= 0.005:
            axes.add_patch(arc(middles[reader], middle, weight))
    return figure


def arc(start, end, weight):
    """A bow above the line, from one place to another."""
    top = 2 * (0.2 + 0.16 * abs(end - start))
    path = Path([(start, 0), ((start + end) / 2, top), (end, 0)], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    look = {"color": palette.LIGHT["probability"], "alpha": 0.35 + 0.55 * weight, "capstyle": "butt"}
    return PathPatch(path, fill=False, linewidth=0.8 + THICK * weight, **look)


@styled
def arrows(vectors, *, xlabel, ylabel, title=None):
    """Vectors of two numbers as arrows from the origin, each with its name at its tip.

    vectors: ``{name: (x, y)}``, at most as many as the palette has lines.
    """
    checks.few(vectors, "vectors", len(palette.SERIES))
    vectors = {name: checks.finite(vector, f"vectors[{name!r}]", 2) for name, vector in vectors.items()}
    ends = np.array([*vectors.values(), (0.0, 0.0)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    room = 0.22 * max(high - low)
    figure = Figure(figsize=(4.6, 3.4), layout="constrained")
    axes = figure.add_subplot(aspect="equal")
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title or "")
    axes.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))
    axes.grid(True, color=RULE, linewidth=0.7)
    axes.axhline(0, color=QUIET, linewidth=0.8, zorder=0)
    axes.axvline(0, color=QUIET, linewidth=0.8, zorder=0)
    for name, (colour, dash) in palette.looks(vectors).items():
        x, y = vectors[name]
        look = {"color": palette.LIGHT[colour], "linestyle": palette.DASHES[dash], "linewidth": 2}
        axes.add_patch(
            FancyArrowPatch((0, 0), (x, y), arrowstyle="-|>", mutation_scale=14, shrinkA=0, shrinkB=0, **look)
        )
        axes.annotate(
            name,
            (x, y),
            (6 if x > 0 else 0, 6 if y >= 0 else -12),
            textcoords="offset points",
            ha="left" if x > 0 else "center",
        )
    return figure


@styled
def circles(panels, *, swept=None):
    """Circles side by side, each with hands from its middle.

    panels: ``{title: {label: angle}}``, up to six; angles in radians, from the right, counterclockwise. A
    hand's label stands at its tip, "" for none. swept: one angle a panel; how far it goes round from 0, at
    most once, is drawn as a thick bow.
    """
    checks.few(panels, "panels", len(palette.SERIES))
    swept = checks.finite([0] * len(panels) if swept is None else swept, "swept", len(panels))
    figure = Figure(figsize=(DIAL * len(panels), DIAL + 0.25))
    for i, ((title, hands), far) in enumerate(zip(panels.items(), swept, strict=True)):
        axes = figure.add_axes((i / len(panels), 0, 1 / len(panels), DIAL / (DIAL + 0.25)))
        axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", title=str(title))
        axes.axis("off")
        turn = np.linspace(0, 2 * np.pi, 121)
        axes.plot(np.cos(turn), np.sin(turn), color=RULE, linewidth=1.2)
        turn = np.linspace(0, min(abs(far), 2 * np.pi) * np.sign(far), 121)
        if far:
            look = {"color": palette.LIGHT["probability"], "linewidth": 5, "solid_capstyle": "butt"}
            axes.plot(np.cos(turn), np.sin(turn), alpha=0.7, **look)
        angles = checks.finite([*hands.values()], f"panels[{title!r}]", len(hands))
        for label, angle in zip(hands, angles, strict=True):
            x, y = np.cos(angle), np.sin(angle)
            axes.add_patch(
                FancyArrowPatch((0, 0), (x, y), arrowstyle="-|>", mutation_scale=9, shrinkA=0, shrinkB=0)
            )
            axes.text(1.27 * x, 1.27 * y, label, ha="center", va="center_baseline", fontsize=10)
    return figure
