"""One row times a matrix, one component at a time."""

import numpy as np

from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Numbers, Whole
from plaincourse.numerals import short
from plainformer.linear import linear

# The third column is document A's; the others are chosen so that [1, 2, -1, 0] @ WEIGHT gives the eight
# numbers of its drawing.
WEIGHT = [
    [1.0, -0.5, 2.0, 0.5, 1.5, -1.0, 0.5, -1.5],
    [-1.0, 1.0, -1.0, -0.5, 0.5, 1.0, 0.0, 1.5],
    [1.0, 0.5, -0.5, 0.5, -0.5, 1.0, 1.0, -0.5],
    [0.5, -1.5, 1.0, 2.0, -1.0, 1.5, -0.5, -2.0],
]


class Matmul(Explorable):
    """See z = x @ W: pick a component of z, and its column of W meets the row x, product by product.

    x: (4,), each from -3 to 3. weight: (4, 8). column: which of the eight components is picked, counted from
    0.
    """

    module = "matmul"
    x = Numbers([1.0, 2.0, -1.0, 0.0], shape=(4,), low=-3, high=3)
    weight = Numbers(WEIGHT, shape=(4, 8), low=-9, high=9)
    column = Whole(2, min=0, max=7).tag(sync=True)

    def outputs(self):
        """Return z = x @ weight, shape (8,)."""
        return linear(np.array(self.x), np.array(self.weight))

    def products(self):
        """Return the four products of the picked component, shape (4,)."""
        return np.array(self.x) * np.array(self.weight)[:, self.column]

    def sentence(self):
        """Return the picked component's sum, in words."""
        terms = " + ".join(
            f"{still.bracketed(a) if i else short(a)} × {still.bracketed(row[self.column])}"
            for i, (a, row) in enumerate(zip(self.x, self.weight))
        )
        z = short(self.outputs()[self.column])
        return f"The row x meets column {self.column} of W: z[{self.column}] = {terms} = {z}."

    def still(self):
        """Return the picture: W above z, x to the left of z, the picked column outlined."""
        side, left, bottom = 44, 210, 232
        largest = max(abs(value) for row in self.weight for value in row)
        parts = [
            still.text(left + 4 * side, 16, "W (4, 8)"),
            still.text(4 + 2 * side, bottom - 8, "x (4,)"),
            still.text(left + 4 * side, bottom - 8, "z = x @ W (8,)"),
        ]
        for i, row in enumerate(self.weight):
            for j, value in enumerate(row):
                parts.append(
                    still.cell(left + j * side, 24 + i * side, side, value, largest, j == self.column)
                )
        for i, value in enumerate(self.x):
            parts.append(still.cell(4 + i * side, bottom, side, value, 3, True))
        for j, value in enumerate(self.outputs()):
            parts.append(still.cell(left + j * side, bottom, side, value, 4, j == self.column))
        return still.picture(left + 8 * side + 4, 280, self.sentence(), *parts)
