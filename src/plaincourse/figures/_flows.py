"""Boxes and arrows, from top to bottom."""

from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.transforms import Affine2D

from plaincourse import palette

from . import _checks as checks
from ._style import INK, QUIET, SHEET, SIZE, sheet, styled, text_width

HIGH, BETWEEN, APART = 0.42, 0.45, 0.3  # of a box, between two steps, between two boxes


@styled
def flow(steps, *, start, end, residuals=()):
    """Boxes from top to bottom, joined by arrows that carry shapes.

    steps: (text, shape) pairs, the shape written beside the arrow that leaves the box; a list of texts makes
    boxes side by side, and "" in it a plain line. start and end: what goes in and comes out. residuals:
    (first, last) positions of steps; a side path carries what enters `first` around to a ⊕ after `last`.
    """
    steps = [checks.step(step) for step in checks.listed(steps, "steps")]
    if not steps:
        raise ValueError("steps must not be empty")
    residuals = [checks.span(pair, len(steps)) for pair in checks.listed(residuals, "residuals")]
    figure = sheet()
    write(figure, 0, 0.06, start, va="bottom")
    outlets, y, entries = [0.0], 0.0, []
    for i, (texts, shape) in enumerate(steps):
        entries.append(y)
        inlets = boxes(figure, texts, y - BETWEEN)
        arrows(figure, outlets, y, inlets, y - BETWEEN, heads=[bool(text) for text in texts])
        outlets, y = inlets, y - BETWEEN - HIGH
        beside = max(outlets) + 0.12
        write(figure, beside, y - BETWEEN / 2, shape or "", ha="left", color=QUIET, fontsize=10.5)
        for first, last in residuals:
            if last == i:
                side = max(width(texts) for texts, _ in steps[first : last + 1]) / 2 + APART
                y = residual(figure, outlets, y, entries[first], -side)
                outlets = [0.0]
    arrows(figure, outlets, y, [0.0], y - BETWEEN)
    write(figure, 0, y - BETWEEN - 0.06, end, va="top")
    return figure


def write(figure, x, y, text, **look):
    """A text at a place in inches; the middle of the sheet's upper edge is (0, 0)."""
    figure.text(x, y, text, transform=inches(figure), **{"ha": "center", "va": "center"} | look)


def inches(figure):
    """From inches, seen from the middle of the sheet's upper edge, to the picture."""
    return Affine2D().translate(SHEET / 2, SHEET - 1).scale(1 / SHEET) + figure.transFigure


def line(figure, *points, **look):
    figure.add_artist(Line2D(*zip(*points, strict=True), **look, transform=inches(figure)))


def arrow(figure, start, end, head=True, **look):
    style = {"arrowstyle": "-|>" if head else "-", "mutation_scale": SIZE, "shrinkA": 0, "shrinkB": 0}
    figure.add_artist(FancyArrowPatch(start, end, **style, **look, transform=inches(figure)))


def meaning(text):
    """The part of the palette that a box is about, by its first word, or None."""
    word = text.lower().partition(" ")[0]
    return word if word in ("query", "key", "value", "mlp") else None


def width(texts):
    """The width of boxes side by side."""
    return sum(map(box_width, texts)) + APART * (len(texts) - 1)


def box_width(text):
    return max(1.2, text_width(text) + APART)


def boxes(figure, texts, top):
    """Draw boxes side by side below `top` and return the middle of each."""
    x, middles = -width(texts) / 2, []
    for text in texts:
        wide = box_width(text)
        middles.append(x + wide / 2)
        if text:
            about = meaning(text)
            look = {"facecolor": palette.mixed(about or "hidden", 0.12), "edgecolor": INK}
            if about:
                look = look | {"edgecolor": palette.LIGHT[about], "linewidth": 2}
            shape = "round,pad=0,rounding_size=0.06"
            box = FancyBboxPatch((x, top - HIGH), wide, HIGH, shape, **look, transform=inches(figure))
            figure.add_artist(box)
            write(figure, middles[-1], top - HIGH / 2, text)
        else:
            line(figure, (middles[-1], top), (middles[-1], top - HIGH), color=INK, linewidth=1)
        x += wide + APART
    return middles


def arrows(figure, sources, upper, targets, lower, heads=(True,)):
    """One arrow for each pair if there are as many of both, else from each source to each target."""
    together = len(sources) == len(targets)
    for i, source in enumerate(sources):
        for j, target in enumerate(targets):
            if i == j or not together:
                arrow(figure, (source, upper), (target, lower), heads[j], color=INK)


def residual(figure, outlets, y, entry, side):
    """Draw the stream's path that leaves at `entry`, and the ⊕ where it comes back; returns the new lower
    edge.
    """
    middle, radius = y - 0.58, 0.14
    stream = {"color": palette.LIGHT["stream"], "linewidth": 3}
    line(figure, (0, entry - 0.12), (side, entry - 0.12), (side, middle), **stream)
    arrow(figure, (side, middle), (-radius, middle), **stream)
    arrows(figure, outlets, y, [0.0], middle + radius)
    ring = {"markerfacecolor": "#ffffff", "markeredgecolor": INK, "markeredgewidth": 1.2}
    line(figure, (0, middle), marker="o", markersize=19, **ring)
    line(figure, (0, middle), marker="+", markersize=11, color=INK, markeredgewidth=1.6)
    return middle - radius
