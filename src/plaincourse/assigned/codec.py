"""Arguments and results as JSON, so that they can pass between two processes that do not trust each other.

Data only: nothing that is read can run code, as a pickle could.
"""

import base64
import importlib
import io

import numpy as np

PLAIN = bool | int | float | str | None


def encode(value):
    """The value as what `json.dumps` takes. TypeError, naming the type, for what is neither number, text, array nor a tuple of them."""
    if isinstance(value, np.ndarray | np.generic):
        file = io.BytesIO()
        np.save(file, np.asarray(value), allow_pickle=False)
        return {"array": base64.b64encode(file.getvalue()).decode(), "scalar": isinstance(value, np.generic)}
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
    if isinstance(data, PLAIN):
        return data
    if not isinstance(data, dict):
        raise ValueError(f"codec: data must be a value or a dict, got {type(data).__name__}")
    if "array" in data:
        array = np.load(io.BytesIO(base64.b64decode(data["array"])), allow_pickle=False)
        return array[()] if data.get("scalar") else array
    if "rng" in data:
        rng = np.random.default_rng(0)
        rng.bit_generator.state = data["rng"]
        return rng
    if "record" in data:
        return record(data["record"])(*map(decode, data["items"]))
    for kind in (list, tuple):
        if kind.__name__ in data:
            return kind(map(decode, data[kind.__name__]))
    raise ValueError(f"codec: unknown kind of data: {', '.join(map(str, data))[:80]}")


def record(path):
    """The NamedTuple of this name: plainformer's own only."""
    module, _, name = path.rpartition(".")
    if module.split(".")[0] != "plainformer":
        raise ValueError(f"codec: record must be one of plainformer's, got {path}")
    return getattr(importlib.import_module(module), name)
