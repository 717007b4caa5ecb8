"""From text to token ids and back, by the ``tokenizers`` library."""

from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from plainformer.pretrained.weights import setting
from plainformer.settings import token_ids, whole

CONTROL = 3  # GGUF's mark of tokens such as <|im_end|> that no text is cut into


class Tokenizer:
    """Cuts text into the tokens of one model. ``stop`` holds the ids that end a text, ``eos`` is the first of
    them.
    """

    def __init__(self, engine, stop=()):
        self.engine, self.stop = engine, tuple(stop)

    @property
    def eos(self):
        return self.stop[0] if self.stop else None

    def encode(self, text):
        """The token ids of a text, a list. What is written like a special token, ``<|im_end|>``, is one."""
        if not isinstance(text, str):
            raise TypeError(f"encode: text must be a str, got {type(text).__name__}")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"encode: text must be Unicode, got {text[error.start]!r} at place {error.start}"
            ) from error
        return self.engine.encode(text).ids

    def decode(self, ids):
        """The text of token ids. A character of which only some bytes are there becomes U+FFFD."""
        return self.text(token_ids("decode", "ids", ids, self.engine.get_vocab_size()))

    def text(self, ids):
        """What ``decode`` gives, for ids that have been checked before."""
        return self.engine.decode(ids, skip_special_tokens=False)

    def stream(self, ids, after=()):
        """Yield the text of ids piece by piece, as they come. A character that is not complete yet waits for
        its rest.

        ``after`` holds the ids that came before: some tokenizers leave out the space before the first word.
        """
        size = self.engine.get_vocab_size()
        seen = token_ids("stream", "after", after, size)
        before = self.text(seen)
        shown = len(before.rstrip("\ufffd"))  # the rest may be a character that ``after`` cuts in two

        def new(text):
            return text[max(shown, len(before)) if text.startswith(before) else shown :]

        for i, token in enumerate(ids):
            seen.append(whole("stream", f"ids[{i}]", token, 0, size - 1))
            text = self.text(seen).rstrip("\ufffd")
            yield new(text)
            shown = max(shown, len(text))
        yield new(self.text(seen))


def from_fields(file, fields):
    """The tokenizer of a GGUF file: GPT-2's byte-level BPE (Sennrich et al. 2016), every digit a token of its
    own.

    Raises ValueError for a missing key and for another kind of tokenizer.
    """
    expected = {"model": "gpt2", "pre": "smollm", "add_bos_token": False, "add_space_prefix": False}
    for key, value in expected.items():
        given = setting(file, fields, f"tokenizer.ggml.{key}")
        if given != value:
            raise ValueError(f"{file}: tokenizer.ggml.{key} must be {value}, got {given}")
    tokens, types, merges, eos = (
        setting(file, fields, f"tokenizer.ggml.{key}")
        for key in ("tokens", "token_type", "merges", "eos_token_id")
    )
    vocabulary = {token: number for number, token in enumerate(tokens)}
    engine = tokenizers.Tokenizer(models.BPE(vocabulary, [tuple(merge.split(" ")) for merge in merges]))
    engine.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    engine.decoder = decoders.ByteLevel()
    engine.add_special_tokens([token for token, kind in zip(tokens, types) if kind == CONTROL])
    return Tokenizer(engine, [eos])


def from_file(path, stop=()):
    """The tokenizer of a ``tokenizer.json``. Raises ValueError for a file that is none."""
    path = Path(path)
    content = path.read_bytes()
    try:
        return Tokenizer(tokenizers.Tokenizer.from_str(content.decode()), stop)
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{path}: not a tokenizer file: {error}") from error
