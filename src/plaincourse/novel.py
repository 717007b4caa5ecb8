"""Real text to train on: the first volume of Jane Austen's *Pride and Prejudice* (1813, in the public
domain), as characters, and two trainings of a small GPT-2 on it that ``tools/novel.py`` has recorded.

    python -m plaincourse.novel my.txt

trains on a text of your own and prints what the model writes on the way.
"""

import json
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plainformer import gpt2
from plainformer.generation import generate
from plainformer.settings import whole
from plainformer.training import Schedule, cross_entropy, mapped, train, trainable, trained

FILE = Path(__file__).with_name("novel.txt")
RECORDED = Path(__file__).with_name("novel.json")
CONTEXT, BATCH, HEADS, WIDTH, LAYERS = 64, 16, 4, 64, 3


class Text(NamedTuple):
    """A text as ids of characters, in two parts: one to learn from and one that is kept back."""

    characters: str
    learn: np.ndarray
    keep: np.ndarray

    def decode(self, ids):
        """The text of ids."""
        return "".join(self.characters[i] for i in ids)


def text(string=None, kept=0.1):
    """A text for training: the novel, or a string. Its last tenth is kept back for validation.

    Raises ValueError if a part has less than one window of 65 characters.
    """
    string = FILE.read_text(encoding="utf-8") if string is None else string
    characters = "".join(sorted(set(string)))
    ids = np.array([characters.index(character) for character in string])
    end = len(ids) - int(kept * len(ids))
    if min(end, len(ids) - end) <= CONTEXT:
        raise ValueError(f"text: string must have more than {10 * (CONTEXT + 1)} characters, got {len(ids)}")
    return Text(characters, ids[:end], ids[end:])


def batches(ids, rng, size=BATCH):
    """Batch after batch of windows from random places, (size, 65) each."""
    while True:
        starts = rng.integers(0, len(ids) - CONTEXT, size)
        yield ids[starts[:, None] + np.arange(CONTEXT + 1)]


def untrained(text, seed=0):
    """A small GPT-2 for the characters of a text, with random parameters in float32."""
    config = gpt2.Config(context=CONTEXT + 1, heads=HEADS, eps=1e-5)
    rng = np.random.default_rng(seed)
    model = gpt2.initialize(config, len(text.characters), WIDTH, LAYERS, rng)
    return mapped(lambda table: table.astype(np.float32), model)


def loss(ids, model, windows=64):
    """The mean surprise of a model of NumPy arrays on so many windows, spread evenly over the ids."""
    starts = np.linspace(0, len(ids) - CONTEXT - 1, windows).astype(int)
    rows = ids[starts[:, None] + np.arange(CONTEXT + 1)]
    return float(cross_entropy(gpt2.forward(rows, model)[0], rows))


def writes(model, text, seed=0, count=60, begin="\n"):
    """What a model of NumPy arrays writes at temperature 0.8, at most to its longest text."""
    prompt = [text.characters.index(character) for character in begin if character in text.characters] or [0]
    rng = np.random.default_rng(seed)
    return text.decode(generate(gpt2.forward, model, prompt, count, rng, temperature=0.8))


def training(text, ids, steps, every, seed=0):
    """Train on ids of a text; yield a dictionary every so many steps: the step, the loss on what was learnt
    from and on what was kept back, and what the model writes.
    """
    whole("training", "steps", steps, 1)
    model = trainable(untrained(text, seed))
    schedule = Schedule(peak=0.003, steps=steps, warmup=min(50, steps), floor=0.0003)
    run = train(gpt2.forward, model, batches(ids, np.random.default_rng(seed)), schedule)
    yield noted(0, trained(model), text, ids)
    for step, _ in enumerate(run, start=1):
        if step % every == 0 or step == steps:
            yield noted(step, trained(model), text, ids)


def noted(step, model, text, ids):
    """One note of a training."""
    return {
        "step": step,
        "learn": round(loss(ids, model), 3),
        "keep": round(loss(text.keep, model), 3),
        "writes": writes(model, text),
    }


@cache
def recorded(name):
    """The notes of a recorded training: "whole" on all that is not kept back, "little" on its beginning."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))[name]


def main(arguments):
    """Train on a file, or on the novel if none is given."""
    mine = text(Path(arguments[0]).read_text(encoding="utf-8") if arguments else None)
    print(f"{len(mine.learn):,} characters to learn from, {len(mine.keep):,} kept back,")
    print(f"{len(mine.characters)} different ones; a model that knows nothing has a loss of", end=" ")
    print(f"{np.log(len(mine.characters)):.2f}. Ctrl-C stops.")
    for note in training(mine, mine.learn, steps=2000, every=100):
        print(f"step {note['step']:5}  loss {note['learn']:.2f}  kept back {note['keep']:.2f}")
        print("   ", note["writes"].replace("\n", " / "))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("stopped")
    except (OSError, ValueError) as error:
        sys.exit(f"novel: {error}")
