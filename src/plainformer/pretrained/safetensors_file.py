"""Safetensors, the file format of Hugging Face: a header in JSON, then the tensors as they lie in memory.

The library checks a file, but copies what it reads into NumPy. Here the tensors are views of the file
instead: the system reads a page of it when a number on that page is used, and keeps it for the next program.
The larger the pages, the faster the processor finds its way about in them: where the system has large ones,
it is asked for them.
"""

import contextlib
import json
import math
import mmap
import os
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16}
ALIGNMENT = 64  # bytes: what the widest load instructions like best


def read(path, dtype=np.float32, skip=None):
    """The tensors, a dictionary of read-only arrays, and the metadata, a dictionary of texts.

    Tensors that are stored in ``dtype`` are views of the file, all others copies. Names in which ``skip``, a
    compiled pattern, is found are left out. Raises ValueError for a file that is not whole and for tensors
    that are not floats, OSError for a file that cannot be opened.
    """
    path, dtype = Path(path), float_type(dtype)
    raw, start, header = mapped(path)
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        if skip is not None and skip.search(name):
            continue
        begin, end = (start + offset for offset in entry["data_offsets"])
        numbers = floats(f"{path}: the tensor {name}", raw[begin:end], entry["dtype"], dtype)
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors, metadata


def float_type(dtype):
    """A precision as NumPy's, in whichever of NumPy's ways it is written; ValueError for what no weights are
    read in.
    """
    with contextlib.suppress(TypeError, ValueError):
        if dtype is not None and np.dtype(dtype) in DTYPES.values():
            return np.dtype(dtype)
    raise ValueError(f"load: dtype must be float16, float32 or float64, got {dtype!r}")


def mapped(path):
    """The bytes of a file as an array, where its tensors start, and its header."""
    with open(path, "rb"):
        pass  # a missing or forbidden file is no damaged one
    try:
        with safe_open(path, framework="np"):
            pass  # checks the header and the file's length
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path}: not a whole safetensors file: {error}") from error
    with open(path, "rb") as file:
        pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with contextlib.suppress(AttributeError, OSError):  # not every system has large pages
        pages.madvise(mmap.MADV_HUGEPAGE)
    raw = np.frombuffer(pages, np.uint8)
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    return raw, start, json.loads(raw[8:start].tobytes())


def floats(name, raw, stored, dtype):
    """Bytes as floats. bfloat16, which NumPy lacks, is the upper half of a float32."""
    if stored == "BF16":
        raw, stored = (raw.view("<u2").astype("<u4") << 16).view(np.uint8), "F32"
    if stored not in DTYPES:
        raise ValueError(f"{name} must hold floats, got {stored}")
    return raw.view(np.dtype(DTYPES[stored]).newbyteorder("<")).astype(dtype, copy=False)


def write(path, tensors, metadata):
    """Write float32 arrays and a dictionary of texts; return when they are on disk.

    A file that is there stays until the new one is whole: the tensors may be views of it. Raises OSError if
    the disk is full, ValueError for other numbers, which float32 would change.
    """
    header, end = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        if tensor.dtype != np.float32:
            raise ValueError(f"{path}: the tensor {name} must hold float32, got {tensor.dtype}")
        begin, end = end, end + 4 * math.prod(tensor.shape)
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    with aside(Path(path)) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(np.ascontiguousarray(tensor, dtype="<f4").data)


@contextlib.contextmanager
def aside(path):
    """A file to write to beside ``path``. Once it is on disk it takes the place of ``path``; after an error
    it is removed.
    """
    fresh = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(fresh, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            with contextlib.suppress(AttributeError, OSError):
                # What was written lies scattered in small pages of memory; forgotten, it is read again into
                # large ones.
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
