"""Activation curves and gates."""

import numpy as np
import traitlets

from plaincourse import palette
from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Numbers
from plaincourse.numerals import short
from plainformer.activations import gelu, gelu_tanh, relu, sigmoid, silu

CURVES = {"relu": relu, "silu": silu, "gelu": gelu, "gelu_tanh": gelu_tanh, "sigmoid": sigmoid}
LABELS = {
    "relu": "ReLU",
    "silu": "SiLU",
    "gelu": "GELU exact",
    "gelu_tanh": "GELU tanh",
    "sigmoid": "sigmoid",
}
LOWEST_AT = -1.2784645427610738  # where SiLU is lowest: it rises from here on


def opening(gate, low=LOWEST_AT, high=3.0):
    """Return the a from -1.278 up to 3 whose SiLU is `gate`, by halving the interval."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if silu(np.array(middle)) < gate else (low, middle)
    return high


class Gate(Explorable):
    """See what a gate does: an activation's curve, and four products g · u with g = SiLU(a).

    curves: which of "relu", "silu", "gelu", "gelu_tanh", "sigmoid" are drawn. z: where they are read, from -5
    to 5. gate: the four a, before SiLU, each from -5 to 3. up: the four u, each from -3 to 3. The default of
    gate and up is document A's example, whose gates are 0.1, 1.5, 0 and 2 after SiLU; the third u is ours.
    """

    module = "gate"
    curves = traitlets.List(traitlets.Enum(list(CURVES)), ["relu", "silu", "gelu"]).tag(sync=True)
    z = Numbers(1.0, shape=(), low=-5, high=5)
    gate = Numbers([opening(g) for g in (0.1, 1.5, 0.0, 2.0)], shape=(4,), low=-5, high=3)
    up = Numbers([2.0, -1.0, 3.0, 0.5], shape=(4,), low=-3, high=3)

    def gates(self):
        """Return g = SiLU(a), shape (4,)."""
        return silu(np.array(self.gate))

    def products(self):
        """Return g · u, shape (4,)."""
        return self.gates() * np.array(self.up)

    def sentence(self):
        """Return the four products in words."""
        gates, ups, products = (
            ", ".join(short(value, 2) for value in values)
            for values in (self.gates(), self.up, self.products())
        )
        curves = f"Curves: {', '.join(LABELS[name] for name in self.curves)}. " if self.curves else ""
        return (
            f"{curves}Four gates after SiLU ({gates}) multiply four values ({ups}): the products are"
            f" {products}."
        )

    def still(self):
        """Return the picture: the chosen curves, then a pair of bars for each component."""
        unit, zero = 24, 180
        z = np.linspace(-5, 5, 81)
        parts = [still.box(12, zero, 240, 1, "hidden"), still.box(132, 60, 1, 150, "hidden")]
        for line, name in enumerate(self.curves):
            label, colour = LABELS[name], palette.NAMED[LABELS[name]][0]
            points = " ".join(
                f"{132 + unit * a:.1f},{zero - unit * b:.1f}" for a, b in zip(z, CURVES[name](z))
            )
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{still.colour(colour)}" stroke-width="2"/>'
            )
            parts += [
                still.box(12, 21 + 20 * line, 18, 3, colour),
                still.text(36, 27 + 20 * line, label, "start"),
            ]
        reach = max(3.0, *np.abs(self.up), *np.abs(self.products()))
        for i, (gate, up, product) in enumerate(zip(self.gates(), self.up, self.products())):
            left = 280 + 90 * i
            parts.append(still.text(left + 35, 24, f"× {short(gate, 2)}", weight="bold"))
            for x, name, value, opacity in ((left, "u", up, 0.3), (left + 38, "g·u", product, 1)):
                height = 70 * abs(value) / reach
                colour, _ = still.tint(value, reach)
                parts.append(
                    still.box(x, 125 - height if value > 0 else 125, 32, max(height, 1), colour, opacity)
                )
                parts += [still.text(x + 16, 210, short(value, 2)), still.text(x + 16, 230, name)]
        return still.picture(640, 240, self.sentence(), *parts)
