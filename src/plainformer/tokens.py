"""From text to token ids and back: byte-pair encoding on bytes (Sennrich et al. 2016; Radford et al. 2019).

A text is split into pieces, a word with the blank before it, for instance. Each piece begins as single bytes,
and neighbours are merged as they were when the merges were learnt, the earliest merge first.
"""

import re
import unicodedata
from collections import Counter
from itertools import pairwise
from typing import NamedTuple

from plainformer.settings import token_ids, whole

WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
PIECES = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[a-zA-Z]+| ?0+| ?[^\sa-zA-Z0]+|\s+(?!\S)|\s+")


class BPE(NamedTuple):
    """What has been learnt: the bytes of each id, and the rank of each pair that merges, the first one 0."""

    tokens: tuple
    ranks: dict
    digits_alone: bool = False


def split(text, digits_alone=False):
    """The pieces of a text, GPT-2's way: words and numbers with a blank before them, signs, and white space.

    ``digits_alone`` cuts out every digit first, as SmolLM2 does.
    """
    outline = "".join(map(kind, text))
    parts = re.split("(0)", outline) if digits_alone else [outline]
    pieces, start = [], 0
    for part in parts:
        pieces += [text[start + m.start() : start + m.end()] for m in PIECES.finditer(part)]
        start += len(part)
    return pieces


def kind(character):
    """An English letter or ' as it is; another letter as a, a digit as 0, white space as a blank or a new
    line, anything else as a full stop.
    """
    if character in " '" or (character.isascii() and character.isalpha()):
        return character
    if character in WHITE:
        return "\n"
    return {"L": "a", "N": "0"}.get(unicodedata.category(character)[0], ".")


def merged(parts, pair):
    """The parts with each occurrence of a pair made one, from left to right."""
    result, i = [], 0
    while i < len(parts):
        if tuple(parts[i : i + 2]) == pair:
            result.append(parts[i] + parts[i + 1])
            i += 2
        else:
            result.append(parts[i])
            i += 1
    return result


def in_bytes(piece):
    """The single bytes of a piece."""
    return [bytes([byte]) for byte in piece.encode()]


def train(text, merges, digits_alone=False):
    """Learn so many merges from a text: each time the commonest pair of neighbours, of equals the one that is
    first in the order of bytes.

    It stops early where no pair is left. The ids are the 256 bytes, then the merges in the order learnt.
    """
    merges = whole("train", "merges", merges, 0)
    counts = Counter(split(text, digits_alone))
    words = {piece: in_bytes(piece) for piece in counts}
    ranks = {}
    for rank in range(merges):
        pairs = Counter()
        for piece, parts in words.items():
            for pair in pairwise(parts):
                pairs[pair] += counts[piece]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        ranks[best] = rank
        words = {piece: merged(parts, best) for piece, parts in words.items()}
    tokens = [bytes([byte]) for byte in range(256)] + [left + right for left, right in ranks]
    return BPE(tuple(tokens), ranks, digits_alone)


def encode(text, bpe):
    """The token ids of a text, a list. The merge that was learnt first goes first, wherever its pair stands.

    Raises TypeError for what is no text, and ValueError for bytes that no token stands for.
    """
    if not isinstance(text, str):
        raise TypeError(f"encode: text must be a str, got {type(text).__name__}")
    ids = {token: i for i, token in enumerate(bpe.tokens)}
    parts = [part for piece in split(text, bpe.digits_alone) for part in cut(piece, bpe.ranks)]
    missing = sorted(set(parts) - ids.keys())
    if missing:
        raise ValueError(f"encode: text must be made of bytes that bpe knows, got {missing[0]}")
    return [ids[part] for part in parts]


def cut(piece, ranks):
    """The tokens of one piece, as bytes."""
    parts = in_bytes(piece)
    while True:
        known = [pair for pair in pairwise(parts) if pair in ranks]
        if not known:
            return parts
        parts = merged(parts, min(known, key=ranks.get))


def decode(ids, bpe):
    """The text of token ids. Bytes that are no character become U+FFFD."""
    ids = token_ids("decode", "ids", ids, len(bpe.tokens))
    return b"".join(bpe.tokens[i] for i in ids).decode(errors="replace")
