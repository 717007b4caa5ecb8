"""One row of attention."""

import numpy as np
import traitlets

from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Numbers, Whole
from plaincourse.numerals import short
from plainformer.attention import attention, attention_weights, causal_mask

# Document B's four words. The values are the chapter's; keys and queries are chosen so that ate reads with
# the document's weights, 0.36, 0.44, 0.12 and 0.08.
WORDS = [["고양이", "cat"], ["생선을", "fish"], ["조용히", "quietly"], ["먹었다", "ate"]]
QUERY = [[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0], [0.4, 1.3]]
KEY = [[1.5, 1.0], [-1.0, 2.0], [1.0, 0.0], [1.0, -0.5]]
VALUE = [[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [-1.0, 1.0]]


class Attention(Explorable):
    """See one token read four: scores from its query and the keys, weights by softmax, and the values mixed
    by them.

    words: four pairs of a word and its meaning in English. query, key, value: (4, 2), a row a token, each
    number from -3 to 3. asking: the token that asks, counted from 0. scaled: whether the scores are divided
    by √2. causal: whether the mask is on.
    """

    module = "attention"
    words = traitlets.List(
        traitlets.List(traitlets.Unicode(), minlen=2, maxlen=2),
        [list(word) for word in WORDS],
        minlen=4,
        maxlen=4,
    ).tag(sync=True)
    query = Numbers(QUERY, shape=(4, 2), low=-3, high=3)
    key = Numbers(KEY, shape=(4, 2), low=-3, high=3)
    value = Numbers(VALUE, shape=(4, 2), low=-3, high=3)
    asking = Whole(3, min=0, max=3).tag(sync=True)
    scaled = traitlets.Bool(True).tag(sync=True)
    causal = traitlets.Bool(False).tag(sync=True)

    def arguments(self):
        """Return query (1, 2), key (4, 2) and mask (1, 4) as plainformer's attention takes them."""
        # The library always divides by √2; a query that is longer by √2 undoes it.
        query = np.array([self.query[self.asking]]) * (1 if self.scaled else np.sqrt(2))
        mask = causal_mask(4)[[self.asking]] if self.causal else np.ones((1, 4), dtype=bool)
        return query, np.array(self.key), mask

    def scores(self):
        """Return query · key for each key, neither divided nor masked, shape (4,)."""
        return np.array(self.key) @ np.array(self.query[self.asking])

    def weights(self):
        """Return the four attention weights, shape (4,)."""
        return attention_weights(*self.arguments())[0]

    def mix(self):
        """Return the values mixed by the weights, shape (2,)."""
        query, key, mask = self.arguments()
        return attention(query, key, np.array(self.value), mask)[0]

    def sentence(self):
        """Return who reads whom, how much, and what comes out, in words."""
        glosses = [gloss for _, gloss in self.words]
        read = ", ".join(f"{gloss} {weight:.2f}" for gloss, weight in zip(glosses, self.weights()))
        return (
            f"The token {glosses[self.asking]} reads with the weights {read}; the values mixed are"
            f" {vector(self.mix())}."
        )

    def still(self):
        """Return the picture: key, score, weight as a bar, and value of each token, and the mix below the
        values.
        """
        columns = [(52, "token"), (145, "key k"), (230, "score q · k"), (400, "weight"), (585, "value v")]
        parts = [still.text(x, 18, title, weight="bold") for x, title in columns]
        rows = zip(self.words, self.key, self.scores(), self.weights(), self.value)
        for i, ((_, gloss), key, score, weight, value) in enumerate(rows):
            y = 48 + 30 * i
            parts += [
                still.text(52, y, gloss),
                still.text(145, y, vector(key)),
                still.text(230, y, short(score, 2)),
            ]
            parts += [
                still.box(300, y - 15, 170 * weight, 20, "probability"),
                still.text(510, y, f"{weight:.2f}", anchor="end"),
            ]
            parts.append(still.text(585, y, vector(value)))
        parts.append(still.box(10, 152, 620, 1, "hidden"))
        parts.append(
            still.text(
                10,
                176,
                f"{self.words[self.asking][1]} asks with q = {vector(self.query[self.asking])}",
                anchor="start",
            )
        )
        parts += [still.text(510, 176, f"sum {sum(self.weights()):.2f}", anchor="end")]
        parts.append(still.text(585, 176, vector(self.mix()), weight="bold"))
        return still.picture(640, 190, self.sentence(), *parts)


def vector(numbers):
    """Return two numbers as the explorable prints them: in square brackets, at most two decimals each."""
    return f"[{', '.join(short(number, 2) for number in numbers)}]"
