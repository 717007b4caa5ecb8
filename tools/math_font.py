"""Make the font of the book's formulas: a part of STIX Two Math, into src/plaincourse/book/fonts.

    npm pack @fontsource/stix-two-math     # 5.3.0; unpack it
    python tools/math_font.py package/files/stix-two-math-latin-400-normal.woff2

A formula with a character that is not in the font yet is found by the tests: add the character below and run
this again. It needs fonttools and brotli, which building the book does not.
"""

import argparse
from pathlib import Path

from fontTools import subset
from fontTools.misc.transform import Transform
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen

OUT = Path(__file__).resolve().parents[1] / "src/plaincourse/book/fonts/stix-two-math.woff2"
CHARACTERS = [
    *map(chr, range(0x20, 0x7F)),
    *"\u00a0¬°±·×÷–—‘’“”…′″‴⁗",
    *"¨¯´ˆˇ˘˙˜\u0302\u0303\u0304\u0305\u0307\u0308\u20d7",  # accents
    *"\u2061\u2062\u2063\u2064",  # function application and other signs without ink
    *map(chr, [*range(0x391, 0x3A2), *range(0x3A3, 0x3AA), *range(0x3B1, 0x3CA)]),
    *"ϑϕϖϱϵ",
    *"←↑→↓↔↕↖↗↘↙↦⇐⇑⇒⇓⇔⟵⟶⟷⟸⟹⟺⟼",
    *"∀∁∂∃∄∅∆∇∈∉∋∏∑−∓∕∗∘√∝∞∣∥∧∨∩∪∫∶∼≃≅≈≔≠≡≤≥≪≫⊂⊃⊆⊇⊕⊖⊗⊘⊙⊤⊥⋅⋮⋯⋰⋱",
    *"‖⌈⌉⌊⌋⟦⟧⟨⟩⎴⎵⏞⏟□■",
    *"ℂℒℕℙℚℝℤℬℰℱℋℐℎℓℛℳ𝒪𝔼",
    *map(chr, range(0x1D400, 0x1D434)),  # bold
    *map(chr, [*range(0x1D434, 0x1D455), *range(0x1D456, 0x1D468)]),  # italic
    *map(chr, range(0x1D468, 0x1D49C)),  # bold italic
    *map(chr, [*range(0x1D6A8, 0x1D6DA)]),  # bold Greek
    *map(chr, [*range(0x1D6E2, 0x1D71C)]),  # italic Greek
    *map(chr, range(0x1D71C, 0x1D74E)),  # bold italic Greek
    *map(chr, range(0x1D7CE, 0x1D7D8)),  # bold digits
]
WIDEST = dict.fromkeys("()[]{}|‖⌈⌉⌊⌋⟨⟩⟦⟧", 1.15) | {
    "√": 1
}  # how much wider than the small form a tall one may be
PRIMES = "′″‴⁗"
SCRIPT, RAISED = 0.7, 380  # how small and how high an exponent is drawn, in thousandths of the font's size


def forms(construction):
    """The names of the glyphs that a stretched character is made of."""
    names = [record.VariantGlyph for record in construction.MathGlyphVariantRecord]
    assembly = construction.GlyphAssembly
    return names + ([part.glyph for part in assembly.PartRecords] if assembly else [])


def redraw(font, name, transform):
    """Draw a glyph through a transform."""
    pen = TTGlyphPen(font.getGlyphSet())
    font.getGlyphSet()[name].draw(TransformPen(pen, transform))
    glyph = pen.glyph()
    glyph.recalcBounds(font["glyf"])
    font["glyf"][name] = glyph
    font["hmtx"][name] = (round(transform[0] * font["hmtx"][name][0]), glyph.xMin)


def narrow(font):
    """Make tall brackets and roots hardly wider than small ones. Chromium leaves room for the widest form
    beside the one that it draws.
    """
    variants, letters = font["MATH"].table.MathVariants, font.getBestCmap()
    constructions = dict(zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction))
    for sign, most in WIDEST.items():
        limit = most * font["hmtx"][letters[ord(sign)]][0]
        for name in set(forms(constructions[letters[ord(sign)]])):
            advance = font["hmtx"][name][0]
            if advance > limit:
                redraw(font, name, Transform(limit / advance, 0, 0, 1, 0, 0))


def enlarge_primes(font):
    """Draw primes so large and so low that they are right as an exponent, which is all they are used as."""
    for sign in PRIMES:
        scale = 1 / SCRIPT
        redraw(font, font.getBestCmap()[ord(sign)], Transform(scale, 0, 0, scale, 0, -RAISED * scale))


def main():
    parser = argparse.ArgumentParser(description="Make the font of the book's formulas.")
    parser.add_argument("source", type=Path, help="the whole font")
    options = subset.Options(
        layout_features=["*"], flavor="woff2", hinting=False, notdef_outline=True, recalc_bounds=True
    )
    font = subset.load_font(str(parser.parse_args().source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(CHARACTERS))
    subsetter.subset(font)
    narrow(font)
    enlarge_primes(font)
    subset.save_font(font, str(OUT), options)
    print(f"{OUT}: {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
