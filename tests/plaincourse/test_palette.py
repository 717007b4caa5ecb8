"""The palette: legible in the light and in the dark, told apart by colour-blind readers, and the only place
with colours.
"""

import itertools
import re

import numpy as np
import pytest
from project import ROOT

from plaincourse import palette

THEMES = [("light", palette.LIGHT), ("dark", palette.DARK)]
# How people without one of the three kinds of cones see linear RGB (Machado, Oliveira and Fernandes 2009).
EYES = {
    "all three": np.eye(3),
    "protanopia": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.052]],
    "deuteranopia": [[0.3673, 0.8606, -0.228], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "tritanopia": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}  # fmt: skip
TO_CONES = [[0.412221, 0.536333, 0.051446], [0.211903, 0.6807, 0.107397], [0.088302, 0.281719, 0.629979]]
TO_LAB = [[0.210454, 0.793618, -0.004072], [1.977998, -2.428592, 0.450594], [0.025904, 0.782772, -0.808676]]


def linear(colour):
    """The red, green and blue light of "#rrggbb"."""
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """The ratio that WCAG asks for."""
    dark, light = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def seen(colour, eyes):
    """Where a colour lies in Oklab, 100 from black to white, for these eyes."""
    light = np.clip(np.array(eyes) @ linear(colour), 0, 1)
    return 100 * np.array(TO_LAB) @ np.cbrt(np.array(TO_CONES) @ light)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21) and contrast("#777777", "#ffffff") < 4.5
    assert np.abs(seen("#ffffff", np.eye(3)) - [100, 0, 0]).max() < 0.1


@pytest.mark.parametrize(("theme", "colours"), THEMES)
def test_every_colour_can_be_read_as_text(theme, colours):
    for name, paper in itertools.product(colours, palette.PAPER[theme]):
        assert contrast(colours[name], paper) >= 4.5, (name, paper)


@pytest.mark.parametrize(("theme", "colours"), THEMES)
@pytest.mark.parametrize("eyes", EYES)
def test_what_stands_together_differs_for_all_eyes(theme, colours, eyes):
    for group in palette.TOGETHER:
        for one, other in itertools.combinations(group, 2):
            gap = np.linalg.norm(seen(colours[one], EYES[eyes]) - seen(colours[other], EYES[eyes]))
            assert gap > 7, (one, other, gap)


def test_both_themes_have_the_same_names():
    assert palette.LIGHT.keys() == palette.DARK.keys() >= set(sum(palette.TOGETHER, ()))
    assert set(palette.SERIES) <= palette.LIGHT.keys() and len(palette.SERIES) == len(palette.DASHES)


def test_a_named_line_keeps_its_look_and_no_two_are_alike():
    assert palette.looks(["post-norm", "x"])["post-norm"] == palette.looks(["y", "post-norm"])["post-norm"]
    for names in (["SiLU", "x", "y"], [*"abcdef"], ["MLP", "a", "b"], ["pre-norm", "post-norm", "bare", "x"]):
        looks = list(palette.looks(names).values())
        for part in zip(*looks):
            assert len(set(part)) == len(names), (names, looks)


def test_the_style_sheet_has_every_colour_in_both_themes():
    sheet = palette.css()
    for colours in (palette.LIGHT, palette.DARK):
        assert all(f"--plain-{name}: {colour};" in sheet for name, colour in colours.items())


def test_no_other_file_has_colours_of_its_own():
    """Black, white and greys are paper and rules; what a style sheet falls back on without a theme too."""
    folder = ROOT / "src/plaincourse"
    files = [
        *folder.glob("*.py"),
        *(folder / "explorables").glob("*.*s"),
        *(folder / "explorables").glob("*.py"),
    ]
    for path in set(files) - {folder / "palette.py"}:
        text = re.sub(r"var\([^;]*;", "", path.read_text(encoding="utf-8"))
        for red, green, blue in re.findall(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})\b", text):
            assert red == green == blue, f"{path.name}: #{red}{green}{blue}"
    used = set(re.findall(r"--plain-([a-z]+)", "".join(
        path.read_text(encoding="utf-8") for path in (folder / "explorables").glob("*.*s")
    )))  # fmt: skip
    assert used and used <= palette.LIGHT.keys()
