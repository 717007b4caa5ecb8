"""A real model from inside, block by block."""

import json

import numpy as np
import traitlets

from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Whole, read
from plaincourse.recording import sizes


class Inside(Explorable):
    """See the next word form in a trained model: what a word reads in each head, and what the stream says
    after each block.

    recording: what plaincourse.recording.record gives; without it, SmolLM2 on "Data visualization empowers
    users to". word: the token on show. after: how many blocks have run, 0 for none. head: of the block that
    ran last. All from 0.
    """

    module = "inside"
    recording = traitlets.Dict(json.loads(read("inside.json"))).tag(sync=True)
    word = Whole(4, min=0).tag(sync=True)
    after = Whole(30, min=0).tag(sync=True)
    head = Whole(3, min=0).tag(sync=True)

    @traitlets.validate("recording", "word", "after", "head")
    def _is_recorded(self, proposal):
        """Refuse what is no recording, and a word, a number of blocks or a head that it does not hold."""
        new = {name: getattr(self, name) for name in self.state_names()} | {
            proposal.trait.name: proposal.value
        }
        try:
            tokens, blocks, heads = sizes(new["recording"])
        except ValueError as error:
            raise traitlets.TraitError(f"Inside: {error}") from None
        for name, largest in (("word", tokens - 1), ("after", blocks), ("head", heads - 1)):
            if new[name] > largest:
                raise traitlets.TraitError(f"Inside: {name} must be from 0 to {largest}, got {new[name]}")
        return proposal.value

    def weights(self):
        """Return how much the word reads of each token in the head, shape (T,); zeros before any block."""
        row = self.recording["weights"][self.after - 1][self.head][self.word] if self.after else []
        return np.append(row, np.zeros(len(self.recording["prompt"]) - len(row))) / 100

    def says(self):
        """Return the likeliest words, read from the stream, as pairs of a word and its share in per cent."""
        return [(word, share) for word, share in self.recording["says"][self.after][self.word]]

    def others(self):
        """Return the share of all other words, in per cent."""
        return self.recording["others"][self.after][self.word]

    def final(self):
        """Return the word that is likeliest after the last block."""
        return self.recording["says"][-1][self.word][0][0]

    def places(self):
        """Return where that word stands before any block, after one block, and so on, shape (L + 1,); 1 is
        the likeliest.
        """
        return np.array(self.recording["place"])[:, self.word]

    def titles(self):
        """Return what stands above the two lists."""
        name = f"“{self.recording['prompt'][self.word]}”"
        if self.after == 0:
            return "No block has run: nothing read", "Before any block, the stream says"
        blocks = "1 block" if self.after == 1 else f"{self.after} blocks"
        return f"Block {self.after - 1}, head {self.head}: {name} reads", f"After {blocks}, the stream says"

    def sentence(self):
        """Return what the word reads and what the stream says, in words."""
        reading, saying = self.titles()
        tokens = self.recording["prompt"][: self.word + 1]
        shared = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(tokens, self.weights()))
        said = ", ".join(f"{word} {share} %" for word, share in [*self.says(), ("all others", self.others())])
        return f"{reading}{f': {shared}' if self.after else ''}. {saying}: {said}."

    def still(self):
        """Return the picture: the prompt's tokens with their weights, and the likeliest words with their
        shares.
        """
        seen = self.word + 1 if self.after else 0
        weights = [(weight, f"{weight:.2f}" if i < seen else "") for i, weight in enumerate(self.weights())]
        left = [(name, *weight) for name, weight in zip(self.recording["prompt"], weights)]
        right = [
            (word, share / 100, f"{share} %") for word, share in [*self.says(), ("all others", self.others())]
        ]
        parts = []
        for x, title, rows in zip((5, 335), self.titles(), (left, right)):
            parts.append(still.text(x, 20, title, anchor="start", weight="bold"))
            for i, (name, share, shown) in enumerate(rows):
                y = 50 + 24 * i
                parts += [
                    still.text(x + 105, y, name, anchor="end"),
                    still.box(x + 113, y - 13, 130 * share, 16, "probability"),
                ]
                parts.append(still.text(x + 298, y, shown, anchor="end"))
        return still.picture(640, 42 + 24 * max(len(left), len(right)), self.sentence(), *parts)
