import errno
import os
import re

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from plainformer.pretrained import safetensors_file

TENSORS = {"b": np.arange(12, dtype=np.float32).reshape(3, 4), "a": np.array([1.5, -2], np.float32)}


@pytest.fixture
def path(tmp_path):
    safetensors_file.write(tmp_path / "m.safetensors", TENSORS, {"x": "ü"})
    return tmp_path / "m.safetensors"


def test_the_library_reads_what_we_write(path):
    with safe_open(path, "np") as file:
        assert file.metadata() == {"x": "ü"}
        assert set(file.keys()) == set(TENSORS)
        for name, tensor in TENSORS.items():
            np.testing.assert_array_equal(file.get_tensor(name), tensor)


def test_we_read_what_we_write(path):
    tensors, metadata = safetensors_file.read(path)
    assert metadata == {"x": "ü"} and tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert type(tensors[name]) is np.ndarray and tensors[name].dtype == np.float32
        np.testing.assert_array_equal(tensors[name], tensor)


def test_a_transposed_view_is_written_as_it_looks(tmp_path):
    safetensors_file.write(tmp_path / "t", {"t": TENSORS["b"].T}, {})
    np.testing.assert_array_equal(safetensors_file.read(tmp_path / "t")[0]["t"], TENSORS["b"].T)


def test_tensors_are_views_of_the_file(path):
    first = safetensors_file.read(path)[0]["b"]
    assert not first.flags.writeable and not first.flags.owndata
    assert first.ctypes.data % safetensors_file.ALIGNMENT == 0
    with open(path, "r+b") as file:
        file.seek(-TENSORS["a"].nbytes - 4, os.SEEK_END)  # the last number of b
        file.write(np.float32(99).tobytes())
    assert first[-1, -1] == 99


def test_a_system_without_large_pages(tmp_path, monkeypatch):
    monkeypatch.delattr(safetensors_file.mmap, "MADV_HUGEPAGE", raising=False)
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    safetensors_file.write(tmp_path / "t", TENSORS, {})
    np.testing.assert_array_equal(safetensors_file.read(tmp_path / "t")[0]["b"], TENSORS["b"])


@pytest.mark.parametrize("stored", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_float_is_read(tmp_path, stored, dtype):
    exact = torch.tensor([0.0, -0.0, 1.0, -1.5, 3e-5, 6e4, torch.inf, -torch.inf, torch.nan]).to(stored)
    save_file({"t": exact, "u": exact[None].clone()}, tmp_path / "t")
    tensors, _ = safetensors_file.read(tmp_path / "t", dtype)
    assert tensors["t"].dtype == dtype and tensors["u"].shape == (1, 9)
    np.testing.assert_array_equal(tensors["t"], exact.double().numpy().astype(dtype))


def test_all_bfloat16_numbers(tmp_path):
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(torch.bfloat16)
    save_file({"t": bits}, tmp_path / "t")
    np.testing.assert_array_equal(safetensors_file.read(tmp_path / "t")[0]["t"], bits.float().numpy())


def test_whole_numbers_are_refused_unless_skipped(tmp_path):
    save_file({"h.0.mask": torch.ones(2, dtype=torch.uint8), "w": torch.ones(2)}, tmp_path / "t")
    with pytest.raises(ValueError, match="t: the tensor h.0.mask must hold floats, got U8"):
        safetensors_file.read(tmp_path / "t")
    assert list(safetensors_file.read(tmp_path / "t", skip=re.compile("mask$"))[0]) == ["w"]


def test_a_file_cut_short_anywhere_is_an_error(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="m.safetensors: not a whole safetensors file"):
            safetensors_file.read(path)


def test_a_file_with_something_behind_it_is_an_error(path):
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(ValueError, match="not a whole safetensors file"):
        safetensors_file.read(path)


def test_a_file_that_cannot_be_opened_is_another_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        safetensors_file.read(tmp_path / "none")
    with pytest.raises(OSError):
        safetensors_file.read(tmp_path)


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_a_file_may_be_written_from_itself(path, tmp_path):
    tensors, metadata = safetensors_file.read(path)
    safetensors_file.write(path, tensors, metadata | {"y": "new"})
    again, metadata = safetensors_file.read(path)
    assert metadata == {"x": "ü", "y": "new"} and names(tmp_path) == [path.name]
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(again[name], tensor)
        np.testing.assert_array_equal(tensors[name], tensor)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_file_that_was_there(path, tmp_path, monkeypatch, step):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = path.read_bytes()
    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        safetensors_file.write(path, {"c": TENSORS["a"]}, {})
    assert path.read_bytes() == before and names(tmp_path) == [path.name]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32])
def test_what_float32_would_change_is_not_written(path, tmp_path, dtype):
    before = path.read_bytes()
    with pytest.raises(ValueError, match=f"the tensor a must hold float32, got {np.dtype(dtype)}"):
        safetensors_file.write(path, {"a": np.ones(3, dtype)}, {})
    assert path.read_bytes() == before and names(tmp_path) == [path.name]
