"""Record what SmolLM2 says and where its heads look into src/plaincourse/witness.json, for figures of
chapters that come long before the chapter that runs it.

    python tools/witness.py

Seconds. What is recorded is listed here; a test compares it with the live model.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "src/plaincourse/witness.json"
LISTED = 6

# What it says next, after these texts.
SAYS = [
    "The cat quietly ate the",
    "I went to the market and bought some",
    "I drink coffee and eat",
    "Paris is the capital of",
    "The capital of France is",
    "One, two, three,",
    "Data visualization empowers users to",
    "The cat sat on the mat because it was",
]
# Where a head looks: a name, the text, the block and the head, both from 0.
LOOKS = {
    "it and the cat": ("The cat sat on the mat because it was tired", 13, 8),
    "the token before": ("The cat sat on the mat because it was tired", 16, 0),
    "which the": ("the cat ate the fish and the fish ate the cat", 1, 2),
}
# How it goes on: a name, the text, how many tokens, and the settings of sampling.
MARKET = "I went to the market and"
WRITES = {
    "always the likeliest": (MARKET, 47, {"temperature": 0}),
    "as it is": (MARKET, 24, {"seed": 1}),
    "temperature 2": (MARKET, 24, {"temperature": 2}),
    "temperature 0.8, top-p 0.9": (MARKET, 24, {"seed": 2, "temperature": 0.8, "top_p": 0.9}),
}
# After which texts the likeliest tokens' shares are added up.
COLLECTS = ["The capital of France is", "I went to the market and bought some"]
# How likely it finds each token of a text after those before it.
EXPECTS = ["The capital of France is Paris"]
# Whose rows of the embedding lie nearest, by the cosine of their angle.
NEIGHBOURS = [" cat", " fish", " quietly", " ate", " three", " Paris", " king", " red", " bought"]


def main():
    from plaincourse.witness import collected, expected, lines, looked, nearest, said, size, written
    from plainformer.pretrained import smollm2

    model, tokenizer = smollm2.load()
    recorded = {
        "model": {"parameters": size(model)},
        "says": {text: said(text, model, tokenizer, LISTED) for text in SAYS},
        "looks": {name: looked(*look, model, tokenizer) for name, look in LOOKS.items()},
        "writes": {
            name: written(text, count, model, tokenizer, **how) for name, (text, count, how) in WRITES.items()
        },
        "collects": {text: collected(text, model, tokenizer) for text in COLLECTS},
        "expects": {text: expected(text, model, tokenizer) for text in EXPECTS},
        "neighbours": {token: nearest(token, model, tokenizer, LISTED) for token in NEIGHBOURS},
    }
    FILE.write_text(lines(recorded), encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
