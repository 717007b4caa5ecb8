"""From text to token ids and back, by the ``tokenizers`` library."""

import functools
import re
from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from plainformer.pretrained.weights import setting
from plainformer.settings import token_ids, whole

NORMAL, CONTROL = 1, 3  # GGUF's marks of tokens: no text is cut into those like <|im_end|>
BYTE = re.compile(r"<0x[0-9A-F]{2}>")  # a token for one byte, where a vocabulary lacks a character
WINDOW = 8  # ids, more than one character is spread over


class Tokenizer:
    """Cuts text into the tokens of one model. ``stop`` holds the ids that end a text, ``eos`` is the first of
    them.
    """

    def __init__(self, engine, stop=()):
        self.engine, self.stop = engine, tuple(stop)
        self.known = frozenset(engine.get_vocab().values())
        self.size = 1 + max(self.known, default=-1)

    @property
    def eos(self):
        return self.stop[0] if self.stop else None

    def unknown(self, vocabulary):
        """The ids below ``vocabulary`` that are no token's: some models have more rows than tokens."""
        return [token for token in range(vocabulary) if token not in self.known]

    def encode(self, text, special=True):
        """The token ids of a text, a list. What is written like a special token, ``<|im_end|>``, is one.

        With ``special=False`` it is plain text, and no special tokens are added: for text from someone who
        may not give the model signs.
        """
        if not isinstance(text, str):
            raise TypeError(f"encode: text must be a str, got {type(text).__name__}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"encode: text must be Unicode, got {text[error.start]!r} at place {error.start}"
            ) from error
        engine = self.engine if special else self.plain
        return engine.encode(text, add_special_tokens=special).ids

    @functools.cached_property
    def plain(self):
        """A copy of the engine that knows no special tokens in a text."""
        engine = tokenizers.Tokenizer.from_str(self.engine.to_str())
        engine.encode_special_tokens = True
        return engine

    def decode(self, ids):
        """The text of token ids. A character of which only some bytes are there becomes U+FFFD."""
        return self.text(self.checked("decode", "ids", ids))

    def checked(self, function, name, ids):
        """The ids as a list of ints; an error for one that is no token's."""
        ids = token_ids(function, name, ids, self.size)
        if not self.known.issuperset(ids):
            raise ValueError(f"{function}: {name} hold {min(set(ids) - self.known)}, which is no token's id")
        return ids

    def text(self, ids):
        """What ``decode`` gives, for ids that have been checked before."""
        return self.engine.decode(ids, skip_special_tokens=False)

    def stream(self, ids, after=()):
        """Yield the text of ids piece by piece, as they come. What a later id can still change waits for it:
        a character that is not complete, a run of single bytes.

        ``after`` holds the ids that came before: some tokenizers leave out the space before the first word.
        """
        window = self.checked("stream", "after", after)  # the last ids: a piece depends on no others
        before, shown = self.text(window), len(self.settled(window))

        def new(text):
            # At its end ``after`` may hold a character that was cut in two, or U+FFFD itself.
            return text[max(shown, len(before)) if text.startswith(before) else shown :]

        for i, token in enumerate(ids):
            window += self.checked("stream", "ids", [whole("stream", f"ids[{i}]", token, 0, self.size - 1)])
            if self.is_byte(window[-1]):
                yield ""
                continue
            yield new(self.settled(window))
            window, before = window[-WINDOW:], ""
            shown = len(self.settled(window))
        yield new(self.text(window))

    def is_byte(self, token):
        """Whether a token stands for a single byte."""
        return BYTE.fullmatch(self.engine.id_to_token(token)) is not None

    def settled(self, ids):
        """The text of ids as far as no later id can change it."""
        end = len(ids)
        while end and self.is_byte(ids[end - 1]):
            end -= 1
        text = self.text(ids[:end])
        return text if end < len(ids) else text.removesuffix("\ufffd")


def from_fields(file, fields):
    """The tokenizer of a GGUF file: GPT-2's byte-level BPE (Sennrich et al. 2016), every digit a token of its
    own.

    Raises ValueError for a missing key, for another kind of tokenizer, and for lists that do not fit.
    """
    expected = {"model": "gpt2", "pre": "smollm", "add_bos_token": False, "add_space_prefix": False}
    for key, value in expected.items():
        given = setting(file, fields, f"tokenizer.ggml.{key}")
        if given != value:
            raise ValueError(f"{file}: tokenizer.ggml.{key} must be {value}, got {given}")
    tokens = texts(file, fields, "tokenizer.ggml.tokens")
    eos = setting(file, fields, "tokenizer.ggml.eos_token_id")
    eos = whole(file, "tokenizer.ggml.eos_token_id", eos, 0, len(tokens) - 1)
    engine = tokenizers.Tokenizer(byte_pairs(file, fields, tokens))
    engine.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    engine.decoder = decoders.ByteLevel()
    engine.add_special_tokens(control_tokens(file, fields, tokens))
    return Tokenizer(engine, [eos])


def byte_pairs(file, fields, tokens):
    """The merges of pairs of tokens, in the library's form."""
    vocabulary = {token: number for number, token in enumerate(tokens)}
    if len(vocabulary) < len(tokens):
        raise ValueError(f"{file}: tokenizer.ggml.tokens must all be different")
    merges = [tuple(text.split(" ")) for text in texts(file, fields, "tokenizer.ggml.merges")]
    try:
        if wrong := next((pair for pair in merges if len(pair) != 2), None):
            raise ValueError(f"got {' '.join(wrong)!r}")
        return models.BPE(vocabulary, merges)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{file}: tokenizer.ggml.merges must join two tokens each: {error}") from error


def texts(file, fields, key):
    """A setting that is a list of texts."""
    values = setting(file, fields, key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{file}: {key} must be a list of texts, got {values!r:.80}")
    return values


def control_tokens(file, fields, tokens):
    """The tokens such as <|im_end|>."""
    key = "tokenizer.ggml.token_type"
    kinds = setting(file, fields, key)
    if not isinstance(kinds, list) or len(kinds) != len(tokens):
        raise ValueError(f"{file}: {key} must be a list of {len(tokens)} numbers, got {kinds!r:.80}")
    for kind in kinds:
        if type(kind) is not int or kind not in (NORMAL, CONTROL):
            raise ValueError(f"{file}: {key} must be {NORMAL} (normal) or {CONTROL} (control), got {kind!r}")
    return [token for token, kind in zip(tokens, kinds) if kind == CONTROL]


def from_file(path, stop=()):
    """The tokenizer of a ``tokenizer.json``. It cuts the whole text, always in the same way: what the file
    says of truncation, padding and dropout was for training.

    Raises ValueError for a file that is none.
    """
    path = Path(path)
    content = path.read_bytes()
    try:
        engine = tokenizers.Tokenizer.from_str(content.decode("utf-8-sig"))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path}: not a tokenizer file: {error}") from error
    engine.no_truncation()
    engine.no_padding()
    if getattr(engine.model, "dropout", None) is not None:
        engine.model.dropout = None
    return Tokenizer(engine, stop)
