"""The book's figures: a few general helpers and one style.

Every helper takes arrays and returns a :class:`Drawing`, which a notebook shows as SVG. The same input gives
the same bytes. Nothing is told apart by colour alone, the background is transparent and text stays dark on
every fill, so that the book may invert a figure on a dark page.
"""

from ._charts import bars, curves, shares
from ._flows import flow
from ._grids import Grid, matrices, matrix, product
from ._style import Drawing
from ._words import arcs, arrows, circles

__all__ = [
    "Drawing",
    "Grid",
    "arcs",
    "arrows",
    "bars",
    "circles",
    "curves",
    "flow",
    "matrices",
    "matrix",
    "product",
    "shares",
]
