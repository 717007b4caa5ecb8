"""Where the parameters of a GPT-2 are."""

import numpy as np
import traitlets

from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Whole
from plainformer import gpt2
from plainformer.attention import Attention
from plainformer.ledger import parameter_ledger
from plainformer.linear import Linear
from plainformer.mlp import MLP
from plainformer.normalization import LayerNorm

# The published sizes; the vocabulary, the context and F = 4E are the same in all four.
SIZES = {
    "small": {"width": 768, "layers": 12, "heads": 12},
    "medium": {"width": 1024, "layers": 24, "heads": 16},
    "large": {"width": 1280, "layers": 36, "heads": 20},
    "XL": {"width": 1600, "layers": 48, "heads": 25},
}
# The parts on show, each with what the ledger's names of its tables have in common.
PARTS = {
    "token embedding": "embedding",
    "position embedding": "positions",
    "attention": ".attention.",
    "MLP": ".mlp.",
    "norms": "norm.",
}


class Parameters(Explorable):
    """See where the parameters of a GPT-2 are: the parts' counts and shares, from the model's settings.

    width: E, from 1 to 4096. layers: L, up to 48. vocabulary: V, up to a million. context: the longest text,
    up to 65,536. multiple: F / E, from 1 to 8. heads: up to 64, a divisor of the width. The output head is
    the token embedding, turned.
    """

    module = "parameters"
    width = Whole(768, min=1, max=4096).tag(sync=True)
    layers = Whole(12, min=1, max=48).tag(sync=True)
    vocabulary = Whole(50_257, min=1, max=1_000_000).tag(sync=True)
    context = Whole(1024, min=1, max=65_536).tag(sync=True)
    multiple = Whole(4, min=1, max=8).tag(sync=True)
    heads = Whole(12, min=1, max=64).tag(sync=True)

    @traitlets.validate("width", "heads")
    def _divides(self, proposal):
        """Refuse heads that do not cut the width into equal pieces."""
        new = {"width": self.width, "heads": self.heads, proposal.trait.name: proposal.value}
        if new["width"] % new["heads"]:
            raise traitlets.TraitError(
                f"Parameters: heads must divide the width {new['width']}, got {new['heads']}"
            )
        return proposal.value

    def model(self):
        """Return a GPT-2 with these settings whose tables take no memory: each is one zero, seen
        everywhere.
        """
        width, hidden = self.width, self.multiple * self.width

        def table(*shape):
            return np.broadcast_to(np.zeros(1, np.float32), shape)

        def linear_map(rows, columns):
            return Linear(table(rows, columns), table(columns))

        def norm():
            return LayerNorm(table(width), table(width))

        def block():
            attention = Attention(*(linear_map(width, width) for _ in range(4)))
            thinking = MLP(linear_map(width, hidden), linear_map(hidden, width))
            return gpt2.Block(norm(), attention, norm(), thinking)

        config, embedding = gpt2.Config(self.context, self.heads, 1e-5), table(self.vocabulary, width)
        blocks = tuple(block() for _ in range(self.layers))
        return gpt2.GPT2(config, embedding, table(self.context, width), blocks, norm())

    def counts(self):
        """Return how many parameters each part holds, in the order of PARTS, from the ledger of the model."""
        ledger = parameter_ledger(self.model())
        return {
            part: sum(entry.count for entry in ledger if mark in entry.name) for part, mark in PARTS.items()
        }

    def sentence(self):
        """Return the settings, the total and the shares, in words."""
        counts = self.counts()
        total = sum(counts.values())
        shares = ", ".join(f"{part} {100 * count / total:.2f} %" for part, count in counts.items())
        settings = (
            f"E = {self.width:,}, L = {self.layers}, V = {self.vocabulary:,}, a context of {self.context:,}"
        )
        return (
            f"A GPT-2 with {settings}, F = {self.multiple}E and H = {self.heads} has {total:,} parameters:"
            f" {shares}."
        )

    def still(self):
        """Return the picture: a bar, a share and a count for each part, and the total below."""
        counts = self.counts()
        total = sum(counts.values())
        parts = []
        for i, (part, count) in enumerate(counts.items()):
            y = 22 + 28 * i
            parts += [
                still.text(150, y, part, anchor="end"),
                still.box(162, y - 14, 260 * count / total, 18, "accent"),
            ]
            parts.append(still.text(500, y, f"{100 * count / total:.2f} %", anchor="end"))
            parts.append(still.text(630, y, f"{count:,}", anchor="end"))
        parts += [
            still.box(10, 146, 620, 1, "hidden"),
            still.text(150, 168, "together", anchor="end", weight="bold"),
        ]
        parts.append(still.text(630, 168, f"{total:,}", anchor="end", weight="bold"))
        return still.picture(640, 180, self.sentence(), *parts)
