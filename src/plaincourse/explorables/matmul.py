"""One row times a matrix, one component at a time."""

import numpy as np
import traitlets

from plainformer.linear import linear

from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Numbers

# The third column is document A's; the others are chosen so that [1, 2, -1, 0] @ WEIGHT gives the eight numbers of its drawing.
WEIGHT = [
    [1.0, -0.5, 2.0, 0.5, 1.5, -1.0, 0.5, -1.5],
    [-1.0, 1.0, -1.0, -0.5, 0.5, 1.0, 0.0, 1.5],
    [1.0, 0.5, -0.5, 0.5, -0.5, 1.0, 1.0, -0.5],
    [0.5, -1.5, 1.0, 2.0, -1.0, 1.5, -0.5, -2.0],
]


class Matmul(Explorable):
    """See y = x @ W: pick a component of y, and its column of W meets the row x, product by product.

    x: (4,), each from -3 to 3. weight: (4, 8). column: which of the eight components is picked, counted from 0.
    """

    module = "matmul"
    x = Numbers([1.0, 2.0, -1.0, 0.0], shape=(4,), low=-3, high=3)
    weight = Numbers(WEIGHT, shape=(4, 8), low=-9, high=9)
    column = traitlets.Int(2, min=0, max=7).tag(sync=True)

    def outputs(self):
        """Return y = x @ weight, shape (8,)."""
        return linear(np.array(self.x), np.array(self.weight))

    def products(self):
        """Return the four products of the picked component, shape (4,)."""
        return np.array(self.x) * np.array(self.weight)[:, self.column]

    def sentence(self):
        """Return the picked component's sum, in words."""
        terms = " + ".join(
            f"{still.bracketed(a) if i else still.number(a)} × {still.bracketed(row[self.column])}"
            for i, (a, row) in enumerate(zip(self.x, self.weight))
        )
        return f"The row x meets column {self.column} of W: y[{self.column}] = {terms} = {still.number(self.outputs()[self.column])}."

    def still(self):
        """Return the picture: W above y, x to the left of y, the picked column outlined."""
        side, left = 44, 210
        parts = [still.text(left + 4 * side, 16, "W (4, 8)"), still.text(2 * side + 4, 224, "x (4,)"), still.text(left + 4 * side, 224, "y = x @ W (8,)")]
        largest = max(abs(value) for row in self.weight for value in row)
        for i, row in enumerate(self.weight):
            parts += [still.cell(left + j * side, 24 + i * side, side, value, largest, j == self.column) for j, value in enumerate(row)]
        parts += [still.cell(4 + i * side, 232, side, value, 3, True) for i, value in enumerate(self.x)]
        parts += [still.cell(left + j * side, 232, side, y, 4, j == self.column) for j, y in enumerate(self.outputs())]
        return still.picture(left + 8 * side + 4, 280, self.sentence(), *parts)
