"""Rotary positions: a query and a key of four numbers, turned by where they stand."""

import numpy as np

from plaincourse.explorables import still
from plaincourse.explorables.base import Choice, Explorable, Numbers, Whole
from plaincourse.numerals import short
from plainformer.positions import rope

FARTHEST = 40


class Rope(Explorable):
    """See a query and a key turn with their positions, and their dot product follow the distance alone.

    query, key: (4,), each number from -3 to 3. query_position, key_position: whole numbers from 0 to 40.
    base: 100, for which both pairs turn visibly, or 10000. pairing: "neighbours" or "halves".
    """

    module = "rope"
    query = Numbers([1.0, 2.0, 3.0, 1.0], shape=(4,), low=-3, high=3)
    key = Numbers([2.0, 1.0, 1.0, 2.0], shape=(4,), low=-3, high=3)
    query_position = Whole(8, min=0, max=FARTHEST).tag(sync=True)
    key_position = Whole(2, min=0, max=FARTHEST).tag(sync=True)
    base = Choice([100, 10_000], 100).tag(sync=True)
    pairing = Choice(["neighbours", "halves"], "neighbours").tag(sync=True)

    def turned(self, row, positions):
        """Return the row at each of the positions, shape (T, 4)."""
        return rope(np.tile(row, (len(positions), 1)), positions, self.base, self.pairing)

    def dots(self):
        """Return q · k for every distance from -40 to 40, shape (81,)."""
        distances = np.arange(-FARTHEST, FARTHEST + 1)
        return self.turned(self.query, distances) @ np.array(self.key)

    def dot(self):
        """Return q · k at the two positions."""
        [query], [key] = (
            self.turned(self.query, [self.query_position]),
            self.turned(self.key, [self.key_position]),
        )
        return query @ key

    def sentence(self):
        """Return where both stand and their dot product, in words."""
        distance = self.query_position - self.key_position
        return (
            f"A query at position {self.query_position} and a key at position {self.key_position}, both"
            f" turned by RoPE: at the distance {short(distance)} their dot product is"
            f" {short(self.dot(), 2)}."
        )

    def still(self):
        """Return the picture: the dot product against the distance, with the present one marked."""
        middle, zero, unit = 320, 105, 7
        reach = max(np.abs(self.dots()).max(), 1e-9)
        points = [
            (middle + unit * d, zero - 70 * dot / reach) for d, dot in enumerate(self.dots(), start=-FARTHEST)
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        x, y = points[FARTHEST + self.query_position - self.key_position]
        parts = [still.box(middle - 280, zero, 560, 1, "hidden"), still.box(middle, 25, 1, 160, "hidden")]
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{still.colour("accent")}" stroke-width="2"/>'
        )
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{still.colour("mark")}"/>')
        where = f"q at {self.query_position}, k at {self.key_position}: q · k = {short(self.dot(), 2)}"
        parts.append(still.text(middle, 18, where, weight="bold"))
        labels = [still.text(middle + unit * d, 202, short(d)) for d in (-40, -20, 0, 20, 40)]
        return still.picture(
            640, 225, self.sentence(), *parts, *labels, still.text(middle, 221, "distance", size=12)
        )
