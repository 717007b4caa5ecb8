"""Small pieces of SVG for the still pictures. Text takes the page's colour; the rest is named by its meaning
in the palette.
"""

from html import escape

from plaincourse import palette
from plaincourse.numerals import short


def text(x, y, content, anchor="middle", weight="normal", size=14):
    """Return a line of text at (x, y)."""
    style = f'text-anchor="{anchor}" font-weight="{weight}" font-size="{size}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(content)}</text>'


def colour(name):
    """Return what SVG calls a colour of the palette; other names stand for themselves."""
    return palette.variable(name) if name in palette.LIGHT else name


def box(x, y, width, height, fill="none", opacity=1.0, stroke="none"):
    """Return a rectangle; `fill` and `stroke` are names of the palette, "none" or "currentColor"."""
    return (
        f'<rect x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}" rx="2" '
        f'fill="{colour(fill)}" fill-opacity="{opacity:.3g}" stroke="{colour(stroke)}"/>'
    )


def tint(value, largest):
    """Return (colour, opacity) for a number: one above zero, another below, stronger when larger."""
    return ("positive" if value >= 0 else "negative"), 0.06 + 0.34 * min(abs(value) / largest, 1)


def picture(width, height, sentence, *parts):
    """Return an inline SVG that a screen reader reads as one picture with `sentence` as its text."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img"'
        f' aria-label="{escape(sentence)}" style="width:100%;max-width:{width:g}px;height:auto"'
        f' font-family="sans-serif" fill="currentColor">{"".join(parts)}</svg>'
    )


def bracketed(value):
    """Return `value` as it stands after a multiplication sign: a negative number in brackets."""
    return f"({short(value)})" if value < 0 else short(value)


def cell(x, y, side, value, largest, picked):
    """Return one number of a matrix in a tinted square, outlined and bold if it is picked."""
    sign, opacity = tint(value, largest)
    square = box(x + 1, y + 1, side - 2, side - 2, sign, opacity, "currentColor" if picked else "none")
    return square + text(x + side / 2, y + side / 2 + 5, short(value), weight="bold" if picked else "normal")
