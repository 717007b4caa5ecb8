"""The key/value cache: what the next token costs with it and without."""

import numpy as np
import traitlets

from plaincourse.counting import cache_bytes, work
from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Whole

# a prompt of 512 and the new tokens fill the longest text of GPT-2: 1,024, as the last one does not go in
LONGEST = 512


class Caching(Explorable):
    """See which pairs of a query and a key the next token needs, and what the step costs GPT-2 small.

    prompt: the tokens of the prompt, 1 to 512. token: which new token is computed, 1 to 513. cached: whether
    the keys and values of earlier steps are kept.
    """

    module = "caching"
    prompt = Whole(6, min=1, max=LONGEST).tag(sync=True)
    token = Whole(6, min=1, max=LONGEST + 1).tag(sync=True)
    cached = traitlets.Bool(True).tag(sync=True)

    def positions(self):
        """Return how many positions each step so far reads, shape (token,)."""
        return self.prompt + np.arange(self.token)

    def rows(self, cached):
        """Return how many rows run through the model in each step so far, shape (token,)."""
        return np.where(np.arange(self.token) == 0, self.prompt, 1) if cached else self.positions()

    def multiply_adds(self, cached):
        """Return the multiply–adds of each step so far, shape (token,)."""
        return work(self.rows(cached), self.positions())

    def bytes(self):
        """Return the bytes that the cache holds after this step."""
        return cache_bytes(L=12, G=12, S=int(self.positions()[-1]), D=64)

    def costs(self):
        """Return the multiply–adds with the cache and without: of this step, and of all steps so far."""
        kept, again = self.multiply_adds(True), self.multiply_adds(False)
        return (kept[-1], again[-1]), (kept.sum(), again.sum())

    def sentence(self):
        """Return what this step costs with the cache and without, in words."""
        (kept, again), _ = self.costs()
        more = "as many" if kept == again else f"{again / kept:.0f} times as many"
        return (
            f"New token {self.token} after a prompt of {self.prompt}: {kept:,} multiply–adds with the cache,"
            f" {again:,} without, {more}. A cache of {self.positions()[-1]:,} positions holds"
            f" {self.bytes():,} bytes."
        )

    def still(self):
        """Return the picture: the pairs of a query and a key, those of this step solid, and the costs beside
        them.
        """
        side, left, top = 190, 10, 34
        last, first = self.positions()[-1], self.token == 1
        above = "computed again for nothing" if not (self.cached or first) else "not computed again"
        colour, opacity = ("accent", 1) if first else ("hidden", 0.3) if self.cached else ("mark", 0.5)
        height = max(side / last, 2)
        parts = [
            still.text(left + side / 2, 18, f"query × key, {last:,} by {last:,}", weight="bold"),
            (
                f'<polygon points="{stairs(last - 1, side / last, left, top)}" fill="{still.colour(colour)}"'
                f' fill-opacity="{opacity}"/>'
            ),
            still.box(left, top + side - height, side, height, "accent"),
            still.box(left, top, side, side, stroke="hidden"),
        ]
        lines = ["All pairs: this step." if first else f"Last row: this step. Above: {above}.", ""]
        for name, (kept, again) in zip(("This step", "All steps"), self.costs()):
            lines += [f"{name}, with the cache: {kept:,} multiply–adds", f"{name}, without: {again:,}"]
        lines.append(f"Bytes that the cache holds: {self.bytes():,}")
        parts += [still.text(230, 50 + 26 * i, line, anchor="start") for i, line in enumerate(lines)]
        return still.picture(640, 232, self.sentence(), *parts)


def stairs(rows, unit, left, top):
    """Return the corners of the first `rows` rows of a triangle of pairs, as SVG writes them."""
    corners = [(left, top)]
    for row in range(rows):
        corners += [
            (left + unit * (row + 1), top + unit * row),
            (left + unit * (row + 1), top + unit * (row + 1)),
        ]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in [*corners, (left, top + unit * rows)])
