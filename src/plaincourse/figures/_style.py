"""The one style of all figures, and the finished picture."""

import contextlib
import functools
import io
import warnings

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.text import Text
from matplotlib.textpath import TextPath

from plaincourse import palette

INK, QUIET, RULE = "#1f1f1f", palette.LIGHT["hidden"], "#e4e4e4"
MARKERS = ["o", "s", "^", "D", "v", "P"]
HATCHES = ["", "////", "\\\\\\\\", "xxxx", "----", "||||"]
# The ends stay light enough for dark numbers; zero is white, in print and on screen.
FILLS = palette.FILLS
SIGNED = LinearSegmentedColormap.from_list("signed", [FILLS["negative"], "#ffffff", FILLS["positive"]])
WEIGHTS = LinearSegmentedColormap.from_list("weights", ["#ffffff", FILLS["probability"]])
DROPPED = FILLS["hidden"]

FONT, SIZE = "DejaVu Sans", 11
SHEET = 100  # inches: a figure is drawn anywhere on a sheet and then cut out
STYLE = {
    "font.family": FONT, "font.size": SIZE, "text.color": INK,
    "axes.edgecolor": QUIET, "axes.labelcolor": INK, "axes.titlesize": SIZE, "axes.labelsize": SIZE,
    "axes.spines.top": False, "axes.spines.right": False, "axes.unicode_minus": True,
    "xtick.color": INK, "ytick.color": INK, "xtick.labelsize": 10, "ytick.labelsize": 10,
    "legend.frameon": False, "legend.fontsize": 10.5, "lines.linewidth": 2, "hatch.linewidth": 0.6,
    "svg.hashsalt": "plain", "svg.fonttype": "path",
}  # fmt: skip


class Drawing:
    """A finished figure. `svg` is its text; a notebook shows it by itself."""

    def __init__(self, figure):
        text = io.StringIO()
        # No date and no version: same input, same bytes.
        nothing = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        cut = {"bbox_inches": "tight", "pad_inches": 0.06}
        with formulas():
            figure.savefig(text, format="svg", transparent=True, metadata=nothing, **cut)
        for part in figure.findobj(Text):
            legible(part.get_text())
        whole = text.getvalue()
        self.svg = whole[whole.index("<svg") :]

    def __repr__(self):
        return "<figure>"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}


def styled(draw):
    """A function that makes a figure, so that it draws in this style and returns the Drawing."""

    @functools.wraps(draw)
    def drawing(*arguments, **options):
        with matplotlib.rc_context(STYLE):
            return Drawing(draw(*arguments, **options))

    return drawing


def sheet():
    """A figure large enough for anything; what stays empty is cut off."""
    figure = Figure(figsize=(SHEET, SHEET), dpi=72)
    FigureCanvasSVG(figure)  # it measures text as the SVG will show it
    return figure


@contextlib.contextmanager
def formulas():
    """Matplotlib's complaint about a formula, whose first line is the formula, as an error about a label."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # `legible` says it, and what to do
        try:
            yield
        except ValueError as error:
            found = str(error).split("\n")[1:2]
            raise ValueError(f"a label must hold a formula between two $, got {found}") from None


def text_width(text, size=SIZE):
    """The width of a line of text, in inches."""
    legible(text)
    if not text.strip():
        return 0.0
    with formulas():
        return TextPath((0, 0), text, size, prop={"family": FONT}).get_extents().width / 72


@functools.cache
def characters():
    """The characters that the figures' font has."""
    return set(map(chr, get_font(findfont(FONT)).get_charmap())) | {"\n"}


def legible(text):
    """ValueError if a text would show as empty boxes."""
    for character in text:
        if character not in characters():
            raise ValueError(
                f"{text!r} holds {character!r}, which the font of the figures does not have; write its gloss"
                " in English"
            )
