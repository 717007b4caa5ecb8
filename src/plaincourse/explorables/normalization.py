"""LayerNorm and RMSNorm of four numbers."""

import numpy as np

from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Numbers
from plaincourse.numerals import short
from plainformer.normalization import layer_norm, rms_norm


class Normalization(Explorable):
    """See what LayerNorm and RMSNorm forget: four numbers, a scale and a shift for all of them, and both
    norms.

    x: (4,), each from -10 to 10. scale: from 0.001 to 100. shift: from -10 to 10. The norms get scale · x +
    shift, with gain 1, bias 0 and eps 0.00001.
    """

    module = "normalization"
    x = Numbers([1.0, 2.0, -0.5, 1.5], shape=(4,), low=-10, high=10)
    scale = Numbers(1.0, shape=(), low=0.001, high=100)
    shift = Numbers(0.0, shape=(), low=-10, high=10)

    def row(self):
        """Return scale · x + shift, shape (4,)."""
        return self.scale * np.array(self.x) + self.shift

    def layer_norm(self):
        """Return the row after LayerNorm, shape (4,)."""
        return layer_norm(self.row(), np.ones(4), np.zeros(4))

    def rms_norm(self):
        """Return the row after RMSNorm, shape (4,)."""
        return rms_norm(self.row(), np.ones(4))

    def panels(self):
        """Return the three rows on show by their titles, each with the number that fills the height of the
        picture.
        """
        row = self.row()
        return [
            ("Row", row, max(*np.abs(row), 1e-9)),
            ("LayerNorm", self.layer_norm(), 2),
            ("RMSNorm", self.rms_norm(), 2),
        ]

    def sentence(self):
        """Return the row and what both norms make of it, in words."""
        row, layer, rms = (
            ", ".join(short(number, 2) for number in numbers) for _, numbers, _ in self.panels()
        )
        return f"The row {row} becomes {layer} after LayerNorm and {rms} after RMSNorm."

    def still(self):
        """Return the picture: four bars for the row, and four for each norm."""
        zero, parts = 110, []
        for panel, (title, numbers, reach) in enumerate(self.panels()):
            left = 10 + 215 * panel
            parts += [
                still.text(left + 95, 18, title, weight="bold"),
                still.box(left, zero, 190, 1, "hidden"),
            ]
            for i, number in enumerate(numbers):
                height = 65 * abs(number) / reach
                colour, _ = still.tint(number, reach)
                parts.append(
                    still.box(
                        left + 8 + 47 * i, zero - height if number > 0 else zero, 34, max(height, 1), colour
                    )
                )
                beside = zero + height + 16 if number < 0 else zero - height - 6
                parts.append(still.text(left + 25 + 47 * i, beside, short(number, 2)))
        return still.picture(640, 205, self.sentence(), *parts)
