"""Record SmolLM2 on the documents' prompt into src/plaincourse/explorables/inside.json, for the explorable
Inside.

    python tools/inside.py

Seconds. The numbers are rounded; on another machine one that lies between two may fall to the other side.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "src/plaincourse/explorables/inside.json"
PROMPT = "Data visualization empowers users to"


def lines(recording):
    """The recording as JSON, a line for each block."""
    parts = []
    for name, value in recording.items():
        rows = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in value]
        parts.append(f'"{name}": [\n' + ",\n".join(rows) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    from plaincourse.recording import record
    from plainformer.pretrained import smollm2

    FILE.write_text(lines(record(PROMPT, *smollm2.load())), encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
