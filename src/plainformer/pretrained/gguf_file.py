"""Llama models in GGUF, the file format of llama.cpp: settings, quantized tensors and the tokenizer in one
file.

The file is read here from its first byte to its last, so that no count, length or offset that it names can
reach beyond its end. What the types of tensors are and how to dequantize them is left to the library.
"""

import math
from pathlib import Path

import numpy as np

from plainformer.llama import Config
from plainformer.pretrained.weights import Names, Sizes, Weights, head_sizes, llama, setting, size
from plainformer.settings import number, whole

NAMES = Names(
    "token_embd",
    "blk.{}.attn_norm",
    "blk.{}.attn_q",
    "blk.{}.attn_k",
    "blk.{}.attn_v",
    "blk.{}.attn_output",
    "blk.{}.ffn_norm",
    "blk.{}.ffn_gate",
    "blk.{}.ffn_up",
    "blk.{}.ffn_down",
    "output_norm",
    "output",
)
# The settings of a Llama: all that may stand in a file.
SIZES = (
    "block_count",
    "vocab_size",
    "embedding_length",
    "feed_forward_length",
    "context_length",
    "attention.head_count",
    "attention.head_count_kv",
    "rope.dimension_count",
)
NUMBERS = ("attention.layer_norm_rms_epsilon", "rope.freq_base")
HEADS = ("attention.key_length", "attention.value_length")  # other names for the width of a head
# The kinds of values in the header, by their numbers.
DTYPES = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "u1 i1 u2 i2 u4 i4 f4 ? u8 i8 f8".split()))
TEXT, ARRAY = 8, 9


def read(path):
    """The file's fields and its tensors: two dictionaries. The tensors are dequantized to float32, (out, in).

    Raises ValueError for a file that is not GGUF, is damaged, is of the other byte order, or is quantized in
    a way that is not known.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        file = Bytes(memoryview(np.memmap(path, mode="r")))
        tensors, fields = counts(file)
        fields = distinct("key", ((file.text(), file.value(file.number("u4"))) for _ in range(fields)))
        tensors = [(file.text(), tensor_type(file)) for _ in range(tensors)]
        alignment = whole("header", "general.alignment", fields.get("general.alignment", 32))
        return fields, distinct("tensor", read_tensors(file, tensors, alignment))
    except (ValueError, NotImplementedError, RecursionError) as error:
        raise ValueError(f"{path}: not a whole GGUF file: {error}") from error


class Bytes:
    """The bytes of a file, read from front to back. ValueError for more than there are."""

    def __init__(self, raw):
        self.raw, self.place = raw, 0

    def take(self, count):
        """The next bytes."""
        begin, self.place = self.place, self.place + count
        if self.place > len(self.raw):
            raise ValueError(f"it ends after {len(self.raw)} bytes, {count} are to follow byte {begin}")
        return self.raw[begin : self.place]

    def numbers(self, kind, count):
        """The next numbers, in the byte order of this machine."""
        return np.frombuffer(self.take(count * np.dtype(kind).itemsize), kind).tolist()

    def number(self, kind):
        """The next number."""
        return self.numbers(kind, 1)[0]

    def text(self):
        """The next text."""
        return str(self.take(self.number("u8")), encoding="utf-8")

    def value(self, kind):
        """The next value of a kind, as Python's."""
        if kind in DTYPES:
            return self.number(DTYPES[kind])
        if kind == TEXT:
            return self.text()
        if kind != ARRAY:
            raise ValueError(f"it holds a value of the unknown kind {kind}")
        kind, count = self.number("u4"), self.number("u8")
        if kind in DTYPES:
            return self.numbers(DTYPES[kind], count)
        return [self.value(kind) for _ in range(count)]


def counts(file):
    """How many tensors and fields follow, once the file is known to be GGUF."""
    magic, version = bytes(file.take(4)), file.number("u4")
    if magic != b"GGUF":
        raise ValueError(f"the magic number is {magic!r}")
    if version not in (2, 3):
        raise ValueError(f"its version must be 2 or 3, in this machine's byte order, got {version}")
    return file.numbers("u8", 2)


def distinct(what, pairs):
    """The pairs as a dictionary; ValueError for a name that comes twice."""
    result = {}
    for name, value in pairs:
        if name in result:
            raise ValueError(f"the {what} {name} stands there twice")
        result[name] = value
    return result


def tensor_type(file):
    """Shape, type and offset of the next tensor."""
    shape = file.numbers("u8", file.number("u4"))[::-1]
    return shape, file.number("u4"), file.number("u8")


def read_tensors(file, tensors, alignment):
    """Yield the name and the numbers of every tensor. They lie one behind the other, each at a multiple of
    the alignment.
    """
    import gguf  # takes a third of a second, and a model that was kept does not need it

    start = file.place + -file.place % alignment
    for name, (shape, kind, offset) in tensors:
        file.take(-file.place % alignment)
        if start + offset != file.place:
            facts = f"must begin {file.place - start} bytes behind the header, got {offset}"
            raise ValueError(f"the tensor {name} {facts}")
        kind = gguf.GGMLQuantizationType(kind)
        block, width = gguf.GGML_QUANT_SIZES[kind]
        if not shape or shape[-1] % block:
            raise ValueError(f"the tensor {name} of type {kind.name} has the shape {shape}")
        stored = np.frombuffer(file.take(math.prod(shape) // block * width), np.uint8)
        numbers = gguf.dequantize(stored.reshape(*shape[:-1], shape[-1] // block * width), kind)
        yield name, np.array(numbers)


def model(file, fields, tensors):
    """The Llama that fields and tensors, as ``read`` gives them, describe. The ``file`` is named in errors.

    Raises ValueError for another architecture, a missing key, a setting that our Llama does not have, or
    wrong tensors.
    """
    architecture = setting(file, fields, "general.architecture")
    if architecture != "llama":
        raise ValueError(f"{file}: general.architecture must be llama, got {architecture}")
    if fields.get("split.count", 1) != 1:
        raise ValueError(f"{file}: it is one of {fields['split.count']} parts of a model: merge them first")
    for key in fields:
        if key.startswith("llama.") and key.removeprefix("llama.") not in SIZES + NUMBERS + HEADS:
            raise ValueError(f"{file}: the setting {key} is not supported")
    sizes = [size(file, fields, f"llama.{key}") for key in SIZES]
    layers, vocabulary, rows, hidden, context, heads, groups, width = sizes
    names = [f"llama.{key}" for key in NUMBERS]
    eps, base = (number(file, name, setting(file, fields, name), above=True) for name in names)
    for key in HEADS:
        if fields.get(f"llama.{key}", width) != width:
            facts = f"must be llama.rope.dimension_count = {width}, got {fields[f'llama.{key}']}"
            raise ValueError(f"{file}: llama.{key} {facts}")
    sizes = Sizes(layers, vocabulary, rows, hidden, *head_sizes(file, heads, groups, width))
    config = Config(context, heads, eps, base, pairing="neighbours")
    return llama(Weights(file, tensors), NAMES, sizes, config, tied="output.weight" not in tensors)
