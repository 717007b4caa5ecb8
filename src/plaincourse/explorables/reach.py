"""How one word reaches another: through a recurrent network, through stacked convolutions, and through
attention.
"""

import numpy as np
import traitlets

from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Whole
from plainformer.attention import Attention, multi_head_attention
from plainformer.linear import Linear
from plainformer.networks import RNN, conv2d, rnn_step

LENGTH = 16
WORDS = "The cat that my two aunts found in the rain near the old station eats fish".split()
FORMS = ["RNN", "CNN", "attention"]
CHAIN = 4  # table products of attention that wait for one another: for queries and keys, scores, mix, output


class Reach(Explorable):
    """See a word ask another: what an RNN, a CNN and attention know of it, on what path, and how long they
    must wait.

    words: sixteen. asking, asked: the two words, counted from 1. width: how many words a filter of the CNN
    covers, the word itself and those before it, from 2 to 8. layers: of the CNN, from 1 to 8. RNN and
    attention have one layer.
    """

    module = "reach"
    words = traitlets.List(traitlets.Unicode(), WORDS, minlen=LENGTH, maxlen=LENGTH).tag(sync=True)
    asking = Whole(15, min=1, max=LENGTH).tag(sync=True)
    asked = Whole(2, min=1, max=LENGTH).tag(sync=True)
    width = Whole(3, min=2, max=8).tag(sync=True)
    layers = Whole(4, min=1, max=8).tag(sync=True)

    def paths(self):
        """Return for each form how often it must be applied until the word that asks knows of the other; inf
        for never.
        """
        return [path(form, self.asking, self.asked, self.width) for form in FORMS]

    def known(self):
        """Return for each form whether the word that asks knows of the first word, the second, …; shape (3,
        16).
        """
        allowed = [LENGTH, self.layers, 1]  # an RNN's one layer takes as many steps as there are words
        everyone = range(1, LENGTH + 1)
        lengths = np.array(
            [[path(form, self.asking, asked, self.width) for asked in everyone] for form in FORMS]
        )
        return lengths <= np.array(allowed)[:, None]

    def chains(self):
        """Return for each form how many table products must wait for one another until the word that asks has
        its row.
        """
        return [self.asking, self.layers, CHAIN]

    def sentence(self):
        """Return who asks whom and what it takes in each form, in words."""
        rnn, cnn, _ = self.paths()
        asks = (
            f"“{self.words[self.asking - 1]}” (word {self.asking}) asks “{self.words[self.asked - 1]}” (word"
            f" {self.asked})"
        )
        if self.asked == self.asking:
            return f"{asks}, itself: it is there from the start. Only the RNN takes a step, to read it."
        if self.asked > self.asking:
            return f"{asks}: RNN and CNN only look back and never reach it. Attention takes 1 step."
        layers = f"takes {cnn} of its {plural(self.layers, 'layer')}"
        if cnn > self.layers:
            layers = f"would need {plural(cnn, 'layer')} and has {self.layers}"
        return f"{asks}: the RNN takes {plural(rnn, 'step')}, the CNN {layers}, attention takes 1 step."

    def still(self):
        """Return the picture: for each form the sixteen words, those that are known of tinted, and the
        path.
        """
        side, left, parts = 30, 90, []
        for form, row, length, y in zip(FORMS, self.known(), self.paths(), (20, 80, 140)):
            parts.append(still.text(4, y + 20, form, anchor="start", weight="bold"))
            for place, seen in enumerate(row, start=1):
                x, ends = left + side * (place - 1), place in (self.asking, self.asked)
                fill, stroke = "accent" if seen else "none", "currentColor" if ends else "hidden"
                parts.append(still.box(x + 1, y, side - 2, side, fill, 0.3, stroke))
                parts.append(
                    still.text(x + side / 2, y + 20, str(place), weight="bold" if ends else "normal")
                )
            says = "never" if length == np.inf else str(length)
            parts.append(still.text(left + side * LENGTH + 8, y + 20, f"path {says}", anchor="start"))
        roles = [(self.asked, "asked", self.asking), (self.asking, "asks", self.asked)]
        for place, role, other in (
            roles if self.asked != self.asking else [(self.asking, "asks itself", LENGTH)]
        ):
            anchor = "middle" if abs(place - other) > 4 else "end" if place < other else "start"
            parts.append(
                still.text(left + side * (place - 0.5), 192, f"{role}: {self.words[place - 1]}", anchor)
            )
        return still.picture(660, 200, self.sentence(), *parts)


def path(form, asking, asked, width):
    """Return how often a form must be applied until the row of one word knows of another word; inf if it
    never does.

    The asked word is 1 and all others are 0, and there are no biases. So a row that is not 0 has heard of
    that word.
    """
    words = np.zeros((LENGTH, 1))
    words[asked - 1] = 1
    rows = 0 * words if form == "RNN" else words
    for count in range(LENGTH + 1):
        if rows[asking - 1, 0] != 0:
            return count
        rows = once(form, words, rows, width)
    return np.inf


def once(form, words, rows, width):
    """Return the rows after one application: a step of the RNN for every word, or a layer of the CNN or of
    attention.
    """
    one = np.ones((1, 1))
    if form == "RNN":
        return rnn_step(words, above(rows, 1)[:LENGTH], RNN(0.5 * one, 0.8 * one, np.zeros(1)))
    if form == "CNN":
        return conv2d(above(rows, width - 1)[:, None], np.ones((width, 1, 1, 1)))[:, 0]
    return multi_head_attention(rows, Attention(*[Linear(one)] * 4), heads=1)


def above(rows, count):
    """Return `rows` below so many rows of zeros."""
    return np.concatenate([np.zeros((count, 1)), rows])


def plural(count, thing):
    """Return the count and the thing, with an s if there is not one of it."""
    return f"{count} {thing}{'' if count == 1 else 's'}"
