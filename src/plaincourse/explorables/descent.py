"""One weight goes downhill: gradient descent on the surprise of the next word."""

import numpy as np

from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Numbers, Whole
from plaincourse.numerals import short
from plainformer.activations import softmax
from plainformer.engines import array_namespace
from plainformer.linear import linear
from plainformer.training import cross_entropy

# Four sentences begin with "cat fish"; three go on with eats, id 0, and one with quietly, id 1. The model
# sees "cat fish" as one number. The first id and the last row of each sentence are there for the shift: they
# are no answer and no guess.
IDS = np.array([[0, 0], [0, 0], [0, 0], [0, 1]])  # (B, T)
X = np.full((2, 1), 2.0)  # (T, E)
CAME = (IDS[:, 1] == 0).mean()  # the share of eats among the next words
MOST = 20  # steps


def loss_of(table):
    """Return the mean surprise of the four next words under the table [[w, 0]], of shape (1, 2), NumPy's or
    PyTorch's.
    """
    logits = linear(array_namespace(table).asarray(X), table)
    return cross_entropy(logits, IDS)


class Descent(Explorable):
    """See gradient descent walk down the loss of one weight, with a learning rate that is too small, right or
    too large.

    start: the weight before the first step, from -2 to 2. rate: the learning rate, from 0.1 to 5. steps: how
    many steps have been taken, from 0 to 20.
    """

    module = "descent"
    start = Numbers(-1.0, shape=(), low=-2, high=2)
    rate = Numbers(0.5, shape=(), low=0.1, high=5)
    steps = Whole(0, min=0, max=MOST).tag(sync=True)

    def probability(self, w):
        """Return the probability of eats."""
        return softmax(linear(X[0], np.array([[w, 0.0]])))[0]

    def loss(self, w):
        """Return the mean surprise of the four next words."""
        return float(loss_of(np.array([[w, 0.0]])))

    def slope(self, w):
        """Return the slope of the loss: x times what was given less what came."""
        return X[0, 0] * (self.probability(w) - CAME)

    def lowest(self):
        """Return the lowest loss there is: where the probability of eats is the share that came."""
        return self.loss(np.log(CAME / (1 - CAME)) / X[0, 0])

    def path(self):
        """Return the weight at the start, after each step, and after one step more, shape (steps + 2,)."""
        path = [self.start]
        for _ in range(self.steps + 1):
            path.append(path[-1] - self.rate * self.slope(path[-1]))
        return np.array(path)

    def sentence(self):
        """Return where the weight is, what the loss and its slope are there, and where the next step leads,
        in words.
        """
        w, after = self.path()[-2:]
        values = self.rate, w, self.probability(w), self.loss(w), self.slope(w), after, self.loss(after)
        rate, place, p, loss, slope, onwards, then = map(short, values)
        return (
            f"At step {self.steps}, with the learning rate {rate}, the weight is {place}, the probability of"
            f" eats {p}, the loss {loss} and its slope {slope}. The next step leads to {onwards}, where the"
            f" loss is {then}."
        )

    def still(self):
        """Return the picture: the loss of every weight, and the walk on it; the last place is where the next
        step leads.
        """

        def at(w):
            return 90 + 56 * (w + 2), 210 - 60 * self.loss(w)

        w, floor = self.path()[-2], 210 - 60 * self.lowest()
        curve = " ".join("{:.1f},{:.1f}".format(*at(w)) for w in np.linspace(-2, 6, 81))
        parts = [still.box(90, 210, 448, 1, "hidden"), still.text(314, 246, "weight w")]
        parts += [still.text(90 + 56 * (w + 2), 228, short(w)) for w in (-2, 0, 2, 4, 6)]
        parts += [still.text(80, 215 - 60 * loss, short(loss), "end") for loss in (0, 1, 2, 3)]
        parts.append(
            f'<path d="M90 {floor:.1f}H538" stroke="{still.colour("done")}" stroke-width="2"'
            ' stroke-dasharray="1 4"/>'
        )
        parts.append(still.text(544, floor + 5, f"lowest {short(self.lowest())}", "start"))
        parts.append(
            f'<polyline points="{curve}" fill="none" stroke="{still.colour("accent")}" stroke-width="2"/>'
        )
        *walk, onwards = [at(w) for w in self.path()]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*walk, onwards])
        parts.append(f'<polyline points="{line}" fill="none" stroke="{still.colour("mark")}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{still.colour("mark")}"/>' for x, y in walk]
        parts.append(
            '<circle cx="{:.1f}" cy="{:.1f}" r="7" fill="{}"/>'.format(*walk[-1], still.colour("mark"))
        )
        ring = f'r="5" fill="none" stroke="{still.colour("mark")}" stroke-width="2"'
        parts.append('<circle cx="{:.1f}" cy="{:.1f}" {}/>'.format(*onwards, ring))
        facts = f"w = {short(w)}, loss {short(self.loss(w))}, slope {short(self.slope(w))}"
        parts += [still.text(314, 18, facts, weight="bold"), still.text(80, 18, "loss", "end")]
        return still.picture(640, 256, self.sentence(), *parts)
