"""Record two trainings of a small GPT-2 on the novel into src/plaincourse/novel.json, for the chapter on
training.

    python tools/novel.py

Some minutes on two cores. A test trains the first steps again and compares.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "src/plaincourse/novel.json"
LITTLE = 10_000  # characters
RUNS = {"whole": (None, 2000, 100), "little": (LITTLE, 1000, 50)}


def main():
    import torch

    from plaincourse import novel

    torch.set_num_threads(1)  # the same sums in the same order
    text = novel.text()
    recorded = {}
    for name, (count, steps, every) in RUNS.items():
        recorded[name] = []
        for note in novel.training(text, text.learn[:count], steps, every):
            print(name, note)
            recorded[name].append(note)
    rows = (f'"{name}": [\n' + ",\n".join(map(json.dumps, notes)) + "\n]" for name, notes in recorded.items())
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
