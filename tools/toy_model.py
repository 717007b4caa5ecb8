"""Train the toy model of the project and write its weights to assignments/source/project_2/toy.npz.

    python tools/toy_model.py

A minute on one core. Two decoder blocks (those of the project's first part) learn the small language of
plaincourse.language. The seed is fixed; another machine may round otherwise in the last digits, and then the
file differs, and with it the numbers of one question.
"""

import runpy
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "assignments/source/project_2/toy.npz"
WIDTH, HIDDEN, HEADS, GROUPS, HEAD_WIDTH, LAYERS = 24, 48, 4, 2, 8, 2
BASE, EPS = 10_000.0, 1e-6
STEPS, BATCH, SEED = 500, 32, 0


class Toy(NamedTuple):
    """The weights: a row for each word, the blocks, the gains of queries and keys of each block, the last
    gain.
    """

    embedding: object
    blocks: tuple
    gains: tuple
    norm: object


def initialize(rng):
    """Weights to begin with."""
    from plainformer.attention import Attention
    from plainformer.linear import Linear
    from plainformer.llama import Config, initialize

    settings = Config(context=8, heads=HEADS, eps=EPS, base=BASE, pairing="halves")
    vocabulary = 20
    model = initialize(settings, vocabulary, WIDTH, LAYERS, HIDDEN, GROUPS, rng, std=0.1)

    def widened(block):
        """Heads that together are wider than the stream."""
        queries, keys = HEADS * HEAD_WIDTH, GROUPS * HEAD_WIDTH
        tables = [
            rng.normal(scale=0.1, size=size)
            for size in [(WIDTH, queries), (WIDTH, keys), (WIDTH, keys), (queries, WIDTH)]
        ]
        return block._replace(attention=Attention(*map(Linear, tables)))

    return Toy(
        model.embedding,
        tuple(map(widened, model.blocks)),
        tuple(np.ones((2, HEAD_WIDTH)) for _ in model.blocks),
        model.norm,
    )


def forward(ids, model):
    """The logits of all positions, (..., T, V), in the form that `train` takes."""
    from plainformer.embedding import embed
    from plainformer.normalization import rms_norm

    x = embed(ids, model.embedding)
    for block, gains in zip(model.blocks, model.gains, strict=True):
        x = DECODER_BLOCK(x, block, gains, HEADS, BASE, EPS)
    return rms_norm(x, model.norm, EPS) @ model.embedding.T, None


DECODER_BLOCK = runpy.run_path(str(ROOT / "assignments/reference/project_1.py"))["decoder_block"]


def arrays(model):
    """The weights by name, in single precision, and the settings."""
    named = {"embedding": model.embedding, "norm": model.norm}
    for i, (block, gains) in enumerate(zip(model.blocks, model.gains, strict=True)):
        named |= {
            f"{i}.attention_norm": block.attention_norm,
            f"{i}.mlp_norm": block.mlp_norm,
            f"{i}.gains": gains,
        }
        named |= {
            f"{i}.{name}": getattr(block.attention, name).weight
            for name in ("query", "key", "value", "output")
        }
        named |= {f"{i}.{name}": getattr(block.mlp, name) for name in ("gate", "up", "down")}
    return {name: array.astype(np.float32) for name, array in named.items()} | {
        "layers": LAYERS,
        "heads": HEADS,
        "base": BASE,
        "eps": EPS,
    }


def main():
    import torch

    from plaincourse import language
    from plainformer.training import Schedule, train, trainable, trained

    torch.set_num_threads(1)
    rng = np.random.default_rng(SEED)
    model = trainable(initialize(rng))
    schedule = Schedule(peak=0.01, steps=STEPS, warmup=20)
    for step, loss in enumerate(train(forward, model, language.batches(rng, BATCH), schedule), start=1):
        if step % 100 == 0:
            print(f"step {step}  loss {loss:.3f}  (the language itself: {language.floor():.3f})")
    np.savez(FILE, **arrays(trained(model)))
    print(f"{FILE.relative_to(ROOT)}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
