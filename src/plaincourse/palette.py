"""The colours of the course by what they mean, for figures, still pictures and explorables.

Every colour can be read as text on the page and on its grey boxes, in the light and in the dark, and those
that meet in one picture differ for colour-blind readers too. All the same, nothing is told apart by colour
alone.
"""

LIGHT = {
    "query": "#664686",
    "key": "#006052",
    "value": "#8f5c22",
    "stream": "#222832",  # the residual stream: the ink of the page, drawn thick
    "mlp": "#842317",
    "probability": "#0072b2",
    "positive": "#0072b2",
    "negative": "#c04a00",
    "hidden": "#677080",  # masked, cut, or not yet computed
    "accent": "#0072b2",  # what can be moved or chosen, and a line without a meaning of its own
    "mark": "#c04a00",  # where things stand now, and what is set against the accent
    "done": "#00795a",  # reached, or kept
    "other": "#a8457f",
}
DARK = {
    "query": "#c98bff",
    "key": "#8cf5a8",
    "value": "#e8c265",
    "stream": "#ced6dd",
    "mlp": "#ff8f7a",
    "probability": "#56b4e9",
    "positive": "#56b4e9",
    "negative": "#f0803c",
    "hidden": "#9ca4af",
    "accent": "#56b4e9",
    "mark": "#f0803c",
    "done": "#2fc49b",
    "other": "#e08fbd",
}
# Behind dark numbers: of the largest number in a matrix.
FILLS = {"positive": "#6aaed6", "negative": "#f2a16b", "probability": "#6aaed6", "hidden": "#d9d9d9"}
# The page and its grey boxes.
PAPER = {"light": ("#ffffff", "#f3f4f5"), "dark": ("#14181e", "#29313d")}
# What stands side by side in one picture.
TOGETHER = [("query", "key", "value", "stream", "mlp"), ("positive", "negative", "hidden")]

# Lines without a meaning of their own, in this order.
SERIES = ["accent", "mark", "done", "other", "value", "hidden"]
DASHES = ["-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3))]
# A line that is drawn more than once looks the same each time: its colour and its place among the dashes.
NAMED = {
    "ReLU": ("stream", 0),
    "GELU": ("mark", 1),
    "GELU exact": ("mark", 1),
    "SiLU": ("accent", 2),
    "GELU tanh": ("other", 3),
    "sigmoid": ("done", 4),
    "pre-norm": ("accent", 0),
    "post-norm": ("mark", 1),
    "bare": ("hidden", 2),
    "with the cache": ("accent", 0),
    "without the cache": ("mark", 1),
    "MLP": ("mlp", 3),
}


def looks(names):
    """A colour's name and a place among the dashes for each line: its own, else the first that is free."""
    taken = [NAMED[name] for name in names if name in NAMED]
    free = [
        (colour, dash)
        for dash, colour in enumerate(SERIES)
        if colour not in {colour for colour, _ in taken} and dash not in {dash for _, dash in taken}
    ]
    return {name: NAMED[name] if name in NAMED else free.pop(0) for name in names}


def mixed(name, share):
    """The light colour of this name with white, so much of it as a share from 0 to 1."""
    parts = (int(LIGHT[name][i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + share * (part - 255)):02x}" for part in parts)


def variable(name):
    """The colour as SVG and CSS name it, so that it follows the page; the light one where there is none."""
    return f"var(--plain-{name}, {LIGHT[name]})"


def css():
    """The style sheet that gives every colour as a variable: --plain-query and so on."""
    dark = 'html[data-theme="dark"], [data-jp-theme-light="false"]'
    rules = []
    for selector, colours in ((":root", LIGHT), (dark, DARK)):
        lines = "".join(f"  --plain-{name}: {colour};\n" for name, colour in colours.items())
        rules.append(f"{selector} {{\n{lines}}}\n")
    return "".join(rules)
