"""Arguments and results as JSON, so that they can pass between two processes that do not trust each other.

Data only: nothing that is read can run code, as a pickle could.
"""

import base64
import importlib
import io
import math

import numpy as np

PLAIN = bool | int | float | str | None
RECORDS = tuple(
    f"plainformer.{name}"
    for name in (
        "attention",
        "cache",
        "gpt2",
        "linear",
        "llama",
        "mlp",
        "networks",
        "normalization",
        "seq2seq",
    )
)


def encode(value):
    """The value as what `json.dumps` takes. TypeError, naming the type, for what is neither number, text,
    array nor a tuple of them.
    """
    if isinstance(value, np.ndarray | np.generic):
        file = io.BytesIO()
        np.save(file, np.asarray(value), allow_pickle=False)
        return {"array": base64.b64encode(file.getvalue()).decode(), "scalar": isinstance(value, np.generic)}
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no word for it
        return encode(np.float64(value))
    if isinstance(value, np.random.Generator):
        return {"rng": value.bit_generator.state}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        kind = type(value)
        return {"record": f"{kind.__module__}.{kind.__qualname__}", "items": [encode(item) for item in value]}
    if isinstance(value, list | tuple):
        return {"tuple" if isinstance(value, tuple) else "list": [encode(item) for item in value]}
    if isinstance(value, PLAIN):
        return value
    raise TypeError(f"expected numbers, an array, or a list or tuple of them, got {type(value).__name__}")


def decode(data):
    """The value that was encoded. ValueError for anything else."""
    if isinstance(data, dict) and "rng" in data:
        rng = np.random.default_rng(0)
        rng.bit_generator.state = data["rng"]
        return rng
    if isinstance(data, dict) and "record" in data:
        return record(data["record"])(*map(decode, data["items"]))
    return plain(data, decode)


def decode_result(data):
    """The value of an answer, which may come from anybody: numbers, arrays, and lists or tuples of them,
    nothing else. ValueError.
    """
    return plain(data, decode_result)


def plain(data, inner):
    """A number, a text, an array, or a list or tuple whose items ``inner`` decodes."""
    if isinstance(data, PLAIN):
        return data
    if isinstance(data, dict) and "array" in data:
        array = read_array(base64.b64decode(data["array"]))
        return array[()] if data.get("scalar") else array
    for kind in (list, tuple):
        if isinstance(data, dict) and kind.__name__ in data:
            return kind(map(inner, data[kind.__name__]))
    raise ValueError("codec: data must be a number, a text, an array, or a list or tuple of them")


def read_array(file):
    """The array in the bytes of an .npy file, whose header must fit its length: it could claim to be of any
    size.
    """
    stream = io.BytesIO(file)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("codec: another version of .npy")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != len(file) - stream.tell():
        raise ValueError("codec: the array's header does not fit its data")
    if math.prod(shape) == 0:
        return np.zeros(shape, dtype)
    return np.ndarray(shape, dtype, file, stream.tell(), order="F" if fortran else "C").copy()


def record(path):
    """The NamedTuple of this name, from a module of plainformer that defines such."""
    module, _, name = path.rpartition(".")
    if module not in RECORDS:
        raise ValueError(f"codec: record must be one of {', '.join(RECORDS)}, got {path}")
    kind = getattr(importlib.import_module(module), name, None)
    if not (
        isinstance(kind, type)
        and issubclass(kind, tuple)
        and hasattr(kind, "_fields")
        and kind.__module__ == module
    ):
        raise ValueError(f"codec: no NamedTuple {path}")
    return kind
