import re
import struct

import gguf
import numpy as np
import pytest
from tiny import tiny_fields, tiny_tensors

from plainformer import llama
from plainformer.pretrained import gguf_file


def test_the_file_comes_back(tiny_gguf):
    fields, tensors = gguf_file.read(tiny_gguf)
    for key, value in tiny_fields().items():
        assert fields[key] == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value)
    for name, tensor in tiny_tensors().items():
        assert tensors[name].dtype == np.float32
        np.testing.assert_array_equal(tensors[name], tensor)


@pytest.mark.parametrize("kind, bits", [("Q8_0", 8), ("Q4_1", 4), ("F16", 10)])
def test_quantized_tensors_are_dequantized(tmp_path, kind, bits):
    matrix = np.random.default_rng(1).uniform(-1, 1, (4, 64)).astype(np.float32)
    writer = gguf.GGUFWriter(tmp_path / "q.gguf", "llama")
    kind = gguf.GGMLQuantizationType[kind]
    writer.add_tensor("m", gguf.quantize(matrix, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tensor = gguf_file.read(tmp_path / "q.gguf")[1]["m"]
    assert tensor.dtype == np.float32 and tensor.shape == (4, 64)
    np.testing.assert_allclose(tensor, matrix, atol=2.2 / 2**bits)


def test_every_constant_comes_from_the_file():
    model = gguf_file.model("f", tiny_fields(), tiny_tensors())
    assert model.config == llama.Config(context=32, heads=4, eps=1e-5, base=100000.0, pairing="neighbours")
    assert model.blocks[0].attention.key.weight.shape == (8, 12)


def test_the_width_of_a_head_may_be_told_twice():
    lengths = {"llama.attention.key_length": 6, "llama.attention.value_length": 6}
    assert gguf_file.model("f", tiny_fields() | lengths, tiny_tensors()).config.heads == 4


def test_matrices_are_transposed_views_and_the_head_is_the_embedding():
    tensors = tiny_tensors()
    model = gguf_file.model("f", tiny_fields(), tensors)
    assert model.blocks[1].attention.query.weight.base is tensors["blk.1.attn_q.weight"]
    np.testing.assert_array_equal(model.blocks[1].mlp.down, tensors["blk.1.ffn_down.weight"].T)
    assert model.head is None


def test_a_head_of_its_own():
    tensors = tiny_tensors()
    tensors["output.weight"] = tensors["token_embd.weight"] + 1
    model = gguf_file.model("f", tiny_fields(), tensors)
    np.testing.assert_array_equal(model.head, tensors["output.weight"].T)


@pytest.mark.parametrize("key", [key for key in tiny_fields() if key.startswith(("llama", "general"))])
def test_a_missing_key_is_an_error(key):
    fields = tiny_fields()
    del fields[key]
    with pytest.raises(ValueError, match=re.escape(f"f.gguf: the key {key} is missing")):
        gguf_file.model("f.gguf", fields, tiny_tensors())


@pytest.mark.parametrize(
    "change, message",
    [
        ({"general.architecture": "qwen2"}, "general.architecture must be llama, got qwen2"),
        ({"llama.rope.scaling.type": "yarn"}, "the setting llama.rope.scaling.type is not supported"),
        ({"split.count": 3}, "it is one of 3 parts of a model: merge them first"),
        ({"llama.rope.scale_linear": 2.0}, "the setting llama.rope.scale_linear is not supported"),
        ({"llama.attention.causal": False}, "the setting llama.attention.causal is not supported"),
        ({"llama.attention.key_length": 8}, "key_length must be llama.rope.dimension_count = 6, got 8"),
        ({"llama.attention.value_length": 4}, "value_length must be llama.rope.dimension_count = 6, got 4"),
        ({"llama.attention.head_count_kv": 3}, "4 query heads must be a multiple of 3 key/value heads"),
        (
            {"llama.rope.dimension_count": 3, "llama.attention.head_count": 8},
            "a head with rotary positions must have an even width, got 3",
        ),
        ({"llama.expert_count": 8}, "the setting llama.expert_count is not supported"),
        ({"llama.block_count": 0}, "llama.block_count must be a whole number of at least 1, got 0"),
        (
            {"llama.attention.head_count": [4, 4]},
            r"llama.attention.head_count must be a whole number .*, got \[4, 4\]",
        ),
        (
            {"llama.rope.freq_base": 0.0},
            "llama.rope.freq_base must be a finite number, greater than 0, got 0.0",
        ),
        (
            {"llama.attention.layer_norm_rms_epsilon": "x"},
            "llama.attention.layer_norm_rms_epsilon must be .*, got 'x'",
        ),
        ({"llama.block_count": 4_000_000_000}, "the tensor blk.2.attn_q.weight is missing"),
        ({"llama.rope.dimension_count": 4}, r"blk.0.attn_q.weight must have shape \(16, 8\), got \(24, 8\)"),
        ({"llama.block_count": 3}, "the tensor blk.2.attn_q.weight is missing"),
        ({"llama.block_count": 1}, "the model has no place for blk.1.attn_k.weight, "),
        ({"llama.vocab_size": 7}, r"token_embd.weight must have shape \(7, 8\)"),
    ],
)
def test_wrong_settings_are_errors(change, message):
    with pytest.raises(ValueError, match=f"^f.gguf: .*{message}"):
        gguf_file.model("f.gguf", tiny_fields() | change, tiny_tensors())


@pytest.mark.parametrize("name", ["rope_freqs.weight", "blk.0.attn_q.bias"])
def test_a_tensor_too_many_is_an_error(name):
    with pytest.raises(ValueError, match=f"the model has no place for {name}"):
        gguf_file.model("f", tiny_fields(), tiny_tensors() | {name: np.ones(24, np.float32)})


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="none.gguf: there is no such file"):
        gguf_file.read(tmp_path / "none.gguf")


def test_a_file_cut_short_anywhere_is_an_error(tiny_gguf):
    whole = tiny_gguf.read_bytes()
    for length in [*range(0, len(whole) - 64, 997), len(whole) - 1]:
        tiny_gguf.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="tiny.gguf: not a whole GGUF file"):
            gguf_file.read(tiny_gguf)


@pytest.mark.parametrize("start", [b"GGUF\x63\0\0\0", b"GGML\3\0\0\0", b"PK\3\4\0\0\0\0"])
def test_another_version_or_kind_of_file_is_an_error(tiny_gguf, start):
    tiny_gguf.write_bytes(start + tiny_gguf.read_bytes()[8:])
    with pytest.raises(ValueError, match="tiny.gguf: not a whole GGUF file: .*(version|magic)"):
        gguf_file.read(tiny_gguf)


# What a header claims


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def header(*fields, tensors=()):
    """A GGUF header: fields are (name, kind, value in bytes), tensors (name, dimensions, kind, offset)."""
    parts = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(fields))]
    for name, kind, value in fields:
        parts += [text(name), struct.pack("<I", kind), value]
    for name, dimensions, kind, offset in tensors:
        sizes = struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
        parts += [text(name), sizes, struct.pack("<IQ", kind, offset)]
    return b"".join(parts)


def array(kind, count, values=b""):
    return struct.pack("<IQ", kind, count) + values


def padded(content, data):
    return content + bytes(-len(content) % 32) + data


def read(folder, content):
    (folder / "f.gguf").write_bytes(content)
    return gguf_file.read(folder / "f.gguf")


ONE, TWO = np.array([1, 2], np.float32), np.array([3], np.float32)
F32, Q8 = gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.Q8_0


def test_what_the_tests_write_is_read(tmp_path):
    fields, tensors = read(
        tmp_path,
        padded(
            header(
                ("a", 9, array(9, 2, array(4, 2, struct.pack("<2I", 7, 8)) + array(8, 1, text("ü")))),
                ("b", 9, array(4, 0)),
                ("general.alignment", 4, struct.pack("<I", 8)),
                tensors=[("x", [2], F32, 0), ("y", [1, 1], F32, 8)],
            ),
            ONE.tobytes() + TWO.tobytes(),
        ),
    )
    assert fields == {"a": [[7, 8], ["ü"]], "b": [], "general.alignment": 8}
    np.testing.assert_array_equal(tensors["x"], ONE)
    np.testing.assert_array_equal(tensors["y"], [TWO])


def test_the_other_byte_order_is_refused(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "big.gguf", "llama", endianess=gguf.GGUFEndian.BIG)
    writer.add_tensor("x", ONE)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ValueError, match="big.gguf: .*version must be 2 or 3, in this machine's byte order"):
        gguf_file.read(tmp_path / "big.gguf")


@pytest.mark.parametrize(
    "offsets, message",
    [
        ([2**64 - 32, 32], "x must begin 0 bytes behind the header, got 18446744073709551584"),
        ([4, 32], "x must begin 0 bytes behind the header, got 4"),
        ([32, 64], "x must begin 0 bytes behind the header, got 32"),
        ([0, 0], "y must begin 32 bytes behind the header, got 0"),
        ([0, 8], "y must begin 32 bytes behind the header, got 8"),
    ],
)
def test_a_tensor_that_lies_elsewhere_is_refused(tmp_path, offsets, message):
    tensors = [(name, [2], F32, offset) for name, offset in zip("xy", offsets)]
    with pytest.raises(ValueError, match=f"f.gguf: not a whole GGUF file: the tensor {message}"):
        read(tmp_path, padded(header(tensors=tensors), bytes(96)))


HUGE = struct.pack("<Q", 2**62)


@pytest.mark.parametrize(
    "content",
    [
        header(("a", 9, array(0, 2**62))),
        header(("a", 9, array(8, 2**62))),
        header(("a", 9, array(9, 2**62))),
        header(("a", 9, array(4, 2**62, bytes(8)))),
        header(("a", 8, HUGE)),
        b"GGUF" + struct.pack("<IQQ", 3, 2**62, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2**62),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + HUGE,
        header(tensors=[("x", [2**62], F32, 0)]),
        header(tensors=[("x", [2**32, 2**32], F32, 0)]),
        header(tensors=[("x", [2**62, 2**62, 0], F32, 0)]),
        header(tensors=[("x", [2**64 - 1, 0], F32, 0)]) + bytes(64),
        header(tensors=[("x", [0], F32, 0), ("y", [1], F32, 0)]),
        b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + text("x") + struct.pack("<I", 2**32 - 1),
    ],
)
def test_what_a_header_claims_ends_with_the_file(tmp_path, content):
    with pytest.raises(ValueError, match="f.gguf: not a whole GGUF file: "):
        read(tmp_path, content)


def test_arrays_nested_without_end_are_refused(tmp_path):
    with pytest.raises(ValueError, match="f.gguf: not a whole GGUF file: "):
        read(tmp_path, header(("a", 9, array(9, 1) * 5000 + array(4, 0))))


@pytest.mark.parametrize(
    "content, message",
    [
        (header(*[("a", 0, b"1")] * 2), "the key a stands there twice"),
        (header(tensors=[("x", [0], F32, 0)] * 2), "the tensor x stands there twice"),
        (header(("a", 13, b"")), "a value of the unknown kind 13"),
        (header(("a", 9, array(13, 1))), "a value of the unknown kind 13"),
        (header(("a", 8, struct.pack("<Q", 1) + b"\xff")), "utf-8"),
        (header(("general.alignment", 4, bytes(4))), "general.alignment must be .*, got 0"),
        (header(("general.alignment", 8, text("8"))), "general.alignment must be .*, got '8'"),
        (header(tensors=[("x", [], F32, 0)]), r"the tensor x of type F32 has the shape \[\]"),
        (header(tensors=[("x", [33], Q8, 0)]), r"the tensor x of type Q8_0 has the shape \[33\]"),
        (header(tensors=[("x", [1], 99, 0)]), "99 is not a valid"),
        (header(tensors=[("x", [0], gguf.GGMLQuantizationType.I8, 0)]), "I8 is not yet implemented"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(tmp_path, content, message):
    with pytest.raises(ValueError, match=f"f.gguf: not a whole GGUF file: .*{message}"):
        read(tmp_path, padded(content, b""))
