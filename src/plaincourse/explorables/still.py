"""Small pieces of SVG for the still pictures. Text takes the page's colour; tints are from the Okabe–Ito
palette.
"""

from html import escape

from plaincourse.numerals import short

BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#808080"


def text(x, y, content, anchor="middle", weight="normal", size=14):
    """Return a line of text at (x, y)."""
    style = f'text-anchor="{anchor}" font-weight="{weight}" font-size="{size}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(content)}</text>'


def box(x, y, width, height, fill="none", opacity=1.0, stroke="none"):
    """Return a rectangle; `fill` and `stroke` are colours."""
    return (
        f'<rect x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}" rx="2" '
        f'fill="{fill}" fill-opacity="{opacity:.3g}" stroke="{stroke}"/>'
    )


def tint(value, largest):
    """Return (colour, opacity) for a number: blue above zero, vermillion below, stronger when larger."""
    return (BLUE if value >= 0 else VERMILLION), 0.06 + 0.34 * min(abs(value) / largest, 1)


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
    colour, opacity = tint(value, largest)
    square = box(x + 1, y + 1, side - 2, side - 2, colour, opacity, "currentColor" if picked else "none")
    return square + text(x + side / 2, y + side / 2 + 5, short(value), weight="bold" if picked else "normal")
