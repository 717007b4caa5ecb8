"""Tiny random models: saved by transformers, read by us, compared with transformers."""

import json
import re

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from tiny import tiny_fields
from transformers.models.llama import modeling_llama

from plainformer import gpt2, llama
from plainformer.pretrained import huggingface, tokenizer

FORWARD = {gpt2.GPT2: gpt2.forward, llama.Llama: llama.forward}
IDS = np.random.default_rng(0).integers(0, 40, 12)
TOLERANCE = {np.float32: 1e-4, np.float64: 1e-9}

COMMON = {"vocab_size": 40, "bos_token_id": None, "eos_token_id": 2}
GPT2 = {
    "one head": {"n_head": 1},
    "many heads": {"n_head": 6, "n_inner": 20, "layer_norm_epsilon": 0.01},
    "untied": {"n_head": 4, "tie_word_embeddings": False},
}
LLAMA = {
    "all heads alike": {"num_attention_heads": 4, "num_key_value_heads": 4},
    "groups": {
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "rms_norm_eps": 0.01,
        "tie_word_embeddings": True,
    },
    "one group, untied": {
        "num_attention_heads": 3,
        "num_key_value_heads": 1,
        "rope_parameters": {"rope_type": "default", "rope_theta": 50.0},
    },
    "wide heads, biases": {
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 10,
        "attention_bias": True,
    },
}


class DoubleNorm(torch.nn.Module):
    """transformers computes this norm in float32 whatever comes in: too coarse to compare float64 with."""

    def __init__(self, norm):
        super().__init__()
        self.weight, self.eps = norm.weight, norm.variance_epsilon

    def forward(self, x):
        return self.weight * x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps)


class DoubleRotary(torch.nn.Module):
    """The same for the angles."""

    def __init__(self, base, width):
        super().__init__()
        self.frequencies = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)

    def forward(self, x, position_ids):
        angles = (position_ids[..., None] * self.frequencies).repeat(1, 1, 2)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def random_model(kind, settings):
    """A model of transformers in which every parameter, gains and biases too, is random and large enough to
    matter.
    """
    torch.manual_seed(0)
    if kind == "gpt2":
        model = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(**COMMON, n_layer=2, n_embd=24, n_positions=16, **settings)
        )
    else:
        model = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                **COMMON,
                num_hidden_layers=2,
                hidden_size=24,
                intermediate_size=20,
                max_position_embeddings=16,
                **settings,
            )
        )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.2)
    return model.eval()


def in_double(model):
    """The model in float64 throughout."""
    model = model.double()
    if isinstance(model, transformers.LlamaForCausalLM):
        config = model.config
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        model.model.rotary_emb = DoubleRotary(config.rope_parameters["rope_theta"], width)
        for parent in list(model.modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, modeling_llama.LlamaRMSNorm):
                    setattr(parent, name, DoubleNorm(child))
    return model


def logits_of(model, ids=IDS):
    with torch.no_grad():
        return model(torch.tensor(ids)[None]).logits[0].numpy()


CASES = [("gpt2", name) for name in GPT2] + [("llama", name) for name in LLAMA]


@pytest.fixture(scope="module", params=CASES, ids=" ".join)
def saved(request, tmp_path_factory):
    """A folder, and the logits of transformers in both precisions."""
    kind, name = request.param
    folder = tmp_path_factory.mktemp("model")
    model = random_model(kind, {"gpt2": GPT2, "llama": LLAMA}[kind][name])
    model.save_pretrained(folder)
    logits = {np.float32: logits_of(model), np.float64: logits_of(in_double(model))}
    return folder, logits


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_are_those_of_transformers(saved, dtype):
    folder, expected = saved
    model, _ = huggingface.load(folder, dtype)
    logits, _ = FORWARD[type(model)](IDS, model)
    assert logits.dtype == dtype and np.ptp(logits) > 1
    np.testing.assert_allclose(logits, expected[dtype], rtol=0, atol=TOLERANCE[dtype])


SPLITS = [[first, 12 - first] for first in range(1, 12)] + [[1] * 12, [3, 1, 4, 1, 3]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("chunks", SPLITS, ids=str)
def test_every_split_of_the_prompt_gives_the_same_logits(saved, dtype, chunks):
    folder, expected = saved
    model, _ = huggingface.load(folder, dtype)
    cache, rows = None, []
    for ids in np.split(IDS, np.cumsum(chunks)[:-1]):
        logits, cache = FORWARD[type(model)](ids, model, cache)
        rows.append(logits)
    np.testing.assert_allclose(np.concatenate(rows), expected[dtype], rtol=0, atol=TOLERANCE[dtype])


@pytest.fixture(params=["gpt2", "llama"])
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, tmp_path):
    """A folder that a test may damage."""
    settings = {"gpt2": GPT2["many heads"], "llama": LLAMA["groups"]}[kind]
    random_model(kind, settings).save_pretrained(tmp_path)
    return tmp_path


def change(folder, file="config.json", **settings):
    """Set keys of a JSON file; None as the value takes the key out."""
    path = folder / file
    config = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))


def change_tensors(folder, function):
    path = folder / "model.safetensors"
    save_file(function(load_file(path)), path)


def test_weights_are_views_of_the_file_and_the_head_of_the_embedding(folder):
    model, _ = huggingface.load(folder)
    attention = model.blocks[0].attention
    down = getattr(model.blocks[1].mlp.down, "weight", model.blocks[1].mlp.down)  # GPT-2's has a bias
    for matrix in (model.embedding, attention.query.weight, attention.key.weight, down):
        assert not matrix.flags.writeable and not matrix.flags.owndata
    assert model.head is None


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_half_precision_files(folder, half):
    reference = transformers.AutoModelForCausalLM.from_pretrained(folder)
    reference.to(half).save_pretrained(folder)
    model, _ = huggingface.load(folder)
    logits, _ = FORWARD[type(model)](IDS, model)
    assert logits.dtype == np.float32
    np.testing.assert_allclose(logits, logits_of(reference.float()), rtol=0, atol=1e-4)


def test_a_file_in_several_parts(folder):
    whole, _ = huggingface.load(folder)
    reference = transformers.AutoModelForCausalLM.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    reference.save_pretrained(folder, max_shard_size="5KB")
    assert not (folder / "model.safetensors").exists() and len(list(folder.glob("model-*.safetensors"))) > 1
    parts, _ = huggingface.load(folder)
    np.testing.assert_array_equal(FORWARD[type(whole)](IDS, whole)[0], FORWARD[type(parts)](IDS, parts)[0])


def in_parts(folder):
    """Cut a folder's file into two; return the names of all tensors in each."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    parts = {"first.safetensors": names[::2], "second.safetensors": names[1::2]}
    for part, inside in parts.items():
        save_file({name: tensors[name] for name in inside}, folder / part)
    places = {name: part for part, inside in parts.items() for name in inside}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return parts


@pytest.mark.parametrize("there, other", [("first", "second"), ("second", "first")])
def test_a_tensor_in_two_parts_is_an_error(folder, there, other):
    parts = in_parts(folder)
    name = parts[f"{there}.safetensors"][0]
    path = folder / f"{other}.safetensors"
    save_file(load_file(path) | {name: torch.ones(3)}, path)
    message = (
        f"index.json: the tensor {name} stands in {other}.safetensors, its place in the index is {there}.s"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        huggingface.load(folder)


def test_a_tensor_that_the_index_does_not_name_is_an_error(folder):
    in_parts(folder)
    path = folder / "second.safetensors"
    save_file(load_file(path) | {"more": torch.ones(3)}, path)
    with pytest.raises(ValueError, match="more stands in second.safetensors, its place in the index is None"):
        huggingface.load(folder)


def test_gpt2_without_prefix_and_with_the_old_constants(tmp_path):
    random_model("gpt2", GPT2["one head"]).save_pretrained(tmp_path)
    expected = gpt2.forward(IDS, huggingface.load(tmp_path)[0])[0]
    change(tmp_path, tie_word_embeddings=None)
    change_tensors(
        tmp_path,
        lambda tensors: (
            {name.removeprefix("transformer."): t for name, t in tensors.items()}
            | {
                "h.0.attn.bias": torch.ones(1, 1, 4, 4, dtype=torch.uint8),
                "h.0.attn.masked_bias": torch.tensor(-1e4),
            }
        ),
    )
    model, _ = huggingface.load_gpt2(tmp_path)
    np.testing.assert_array_equal(gpt2.forward(IDS, model)[0], expected)


def test_a_tied_head_that_was_saved_is_not_used(folder, kind):
    change_tensors(folder, lambda tensors: tensors | {"lm_head.weight": torch.full((40, 24), torch.nan)})
    model, _ = huggingface.load(folder)
    assert model.head is None


def test_older_llama_files_have_the_base_beside_the_other_keys(tmp_path):
    random_model("llama", LLAMA["one group, untied"]).save_pretrained(tmp_path)
    change(tmp_path, rope_parameters=None, rope_theta=50.0, head_dim=None)
    model, _ = huggingface.load_llama(tmp_path)
    assert model.config == llama.Config(context=16, heads=3, eps=1e-6, base=50.0, pairing="halves")


NEEDED = {
    "gpt2": [
        "model_type",
        "activation_function",
        "n_embd",
        "n_head",
        "n_layer",
        "n_positions",
        "vocab_size",
        "layer_norm_epsilon",
    ],
    "llama": [
        "model_type",
        "hidden_act",
        "hidden_size",
        "num_attention_heads",
        "num_key_value_heads",
        "intermediate_size",
        "num_hidden_layers",
        "vocab_size",
        "max_position_embeddings",
        "rms_norm_eps",
    ],
}


def test_a_missing_key_is_an_error(folder, kind):
    config = (folder / "config.json").read_text()
    for key in NEEDED[kind]:
        (folder / "config.json").write_text(config)
        change(folder, **{key: None})
        with pytest.raises(ValueError, match=f"config.json: the key {key} is missing$"):
            huggingface.load(folder)


def test_a_missing_rotary_base_is_an_error(tmp_path):
    random_model("llama", LLAMA["groups"]).save_pretrained(tmp_path)
    change(tmp_path, rope_parameters=None)
    with pytest.raises(ValueError, match="the key rope_theta is missing$"):
        huggingface.load(tmp_path)


ROTARY = {"rope_type": "default", "rope_theta": 10.0}
UNSUPPORTED = {
    "gpt2": [
        ("activation_function", "gelu"),
        ("scale_attn_weights", False),
        ("scale_attn_by_inverse_layer_idx", True),
        ("add_cross_attention", True),
    ],
    "llama": [
        ("hidden_act", "gelu"),
        ("mlp_bias", True),
        ("sliding_window", 4),
        ("quantization_config", {"bits": 4}),
    ],
}


@pytest.mark.parametrize("value", ["linear", 3, [1]])
def test_rotary_parameters_are_an_object(tmp_path, value):
    random_model("llama", LLAMA["groups"]).save_pretrained(tmp_path)
    change(tmp_path, rope_parameters=value)
    with pytest.raises(
        ValueError, match=re.escape(f"config.json: rope_parameters must be an object, got {value!r}")
    ):
        huggingface.load(tmp_path)


def test_rotary_parameters_may_be_null(tmp_path):
    random_model("llama", LLAMA["groups"]).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"rope_parameters": None, "rope_theta": 50.0}))
    assert huggingface.load(tmp_path)[0].config.base == 50


@pytest.mark.parametrize("value", ["no", "false", 0, 1, [], {}])
def test_switches_are_true_or_false(folder, kind, value):
    key = {"gpt2": "tie_word_embeddings", "llama": "attention_bias"}[kind]
    change(folder, **{key: value})
    with pytest.raises(
        ValueError, match=re.escape(f"config.json: {key} must be true or false, got {value!r}")
    ):
        huggingface.load(folder)


@pytest.mark.parametrize(
    "value, place, got",
    [("x", 0, "'x'"), (True, 0, "True"), (2.0, 0, "2.0"), ([2, "x"], 1, "'x'"), ({}, 0, "{}"), (-1, 0, "-1")],
)
@pytest.mark.parametrize("file", ["config.json", "generation_config.json"])
def test_stop_ids_are_whole_numbers(folder, file, value, place, got):
    change(folder, "generation_config.json", eos_token_id=None)
    change(folder, file, eos_token_id=value)
    message = f"{file}: eos_token_id[{place}] must be a whole number of at least 0, got {got}"
    with pytest.raises(ValueError, match=re.escape(message)):
        huggingface.load(folder)


@pytest.mark.parametrize(
    "dtype", [int, bool, object, complex, str, None, "foo", ">f4", torch.float32, "longdouble"]
)
def test_weights_are_floats_of_three_kinds(folder, dtype):
    message = f"load: dtype must be float16, float32 or float64, got {dtype!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        huggingface.load(folder, dtype)


@pytest.mark.parametrize("dtype", [float, "float16", np.dtype("f4")])
def test_a_dtype_may_be_written_in_numpys_ways(folder, dtype):
    assert huggingface.load(folder, dtype)[0].embedding.dtype == dtype


@pytest.mark.parametrize(
    "value, message",
    [
        (["a"], "be an object, got ['a']"),
        ("a.safetensors", "be an object, got 'a.safetensors'"),
        (3, "be an object, got 3"),
        ({"a": 3}, "name files of its folder, got 3"),
        ({"a": ["b"]}, "name files of its folder, got ['b']"),
        ({"a": "../b"}, "name files of its folder, got '../b'"),
        ({"a": ""}, "name files of its folder, got ''"),
    ],
)
def test_the_parts_of_a_file_are_an_object_of_names(folder, value, message):
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": value}))
    with pytest.raises(ValueError, match=re.escape(f"index.json: weight_map must {message}")):
        huggingface.load(folder)


def test_layers_that_are_not_there_are_not_named(folder, kind):
    change(folder, **{{"gpt2": "n_layer", "llama": "num_hidden_layers"}[kind]: 10**30})
    with pytest.raises(ValueError, match=r"the tensor .*\.2\..* is missing"):
        huggingface.load(folder)


def test_settings_of_other_models_are_errors(folder, kind):
    config = (folder / "config.json").read_text()
    for key, value in UNSUPPORTED[kind]:
        (folder / "config.json").write_text(config)
        change(folder, **{key: value})
        with pytest.raises(ValueError, match=re.escape(f"got {value}: another kind of model")) as caught:
            huggingface.load(folder)
        assert f"config.json: {key} must be " in str(caught.value)


@pytest.mark.parametrize("place", ["rope_parameters", "rope_scaling"])
@pytest.mark.parametrize("key, value", [("rope_type", "yarn"), ("partial_rotary_factor", 0.5)])
def test_other_rotary_positions_are_errors(tmp_path, place, key, value):
    random_model("llama", LLAMA["groups"]).save_pretrained(tmp_path)
    change(tmp_path, **{"rope_parameters": None, place: ROTARY | {key: value}})
    with pytest.raises(ValueError, match=f"{place}: {key} must be .*, got {value}: another kind of model"):
        huggingface.load(tmp_path)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"rope_scaling": {"type": "linear"}}, "rope_scaling: type must be default, got linear"),
        ({"rope_scaling": {"factor": 2.0}}, "rope_scaling: the key rope_type is missing"),
        ({"rope_scaling": [2.0]}, r"rope_scaling must be an object, got \[2.0\]"),
        ({"partial_rotary_factor": 0.5}, "config.json: partial_rotary_factor must be 1.0, got 0.5"),
        ({"rope_theta": 9.0}, r"config.json: rope_theta must be one number, got \[9.0, 10000.0\]"),
    ],
)
def test_rotary_settings_that_say_something_else(tmp_path, settings, message):
    random_model("llama", LLAMA["groups"]).save_pretrained(tmp_path)
    change(tmp_path, **settings)
    with pytest.raises(ValueError, match=message):
        huggingface.load(tmp_path)


@pytest.mark.parametrize(
    "settings",
    [
        {"rope_scaling": {"rope_type": "default"}, "rope_theta": 50.0},
        {"rope_scaling": {"type": "default"}, "rope_theta": 50.0, "partial_rotary_factor": 1.0},
        {"rope_scaling": {"type": "default", "rope_type": "default", "rope_theta": 50.0}},
        {"rope_parameters": {"rope_type": "default"}, "rope_theta": 50.0},
    ],
)
def test_no_scaling_may_be_told_in_many_ways(tmp_path, settings):
    random_model("llama", LLAMA["groups"]).save_pretrained(tmp_path)
    change(tmp_path, rope_parameters=None)
    change(tmp_path, **settings)
    reference = transformers.AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    model, _ = huggingface.load(tmp_path)
    assert model.config.base == 50
    np.testing.assert_allclose(llama.forward(IDS, model)[0], logits_of(reference), rtol=0, atol=1e-4)


@pytest.mark.parametrize("value", [0, -1, 2.5, "3", [4]])
def test_sizes_are_whole_numbers(folder, kind, value):
    key = {"gpt2": "n_head", "llama": "num_key_value_heads"}[kind]
    change(folder, **{key: value})
    message = f"config.json: {key} must be a whole number of at least 1, got {value!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        huggingface.load(folder)


def test_heads_that_do_not_divide_the_width_are_an_error(folder, kind):
    change(folder, **({"n_head": 5} if kind == "gpt2" else {"num_attention_heads": 5, "head_dim": None}))
    with pytest.raises(ValueError, match="config.json: 5 heads do not divide a width of 24"):
        huggingface.load(folder)


def test_heads_that_no_group_divides_are_an_error(tmp_path):
    random_model("llama", LLAMA["wide heads, biases"]).save_pretrained(tmp_path)
    change(tmp_path, num_key_value_heads=3)
    with pytest.raises(ValueError, match="json: 4 query heads must be a multiple of 3 key/value heads"):
        huggingface.load(tmp_path)
    change(tmp_path, num_key_value_heads=2, head_dim=5)
    with pytest.raises(ValueError, match="json: a head with rotary positions must have an even width, got 5"):
        huggingface.load(tmp_path)


def test_wrong_tensors_are_errors(folder, kind):
    tensors = load_file(folder / "model.safetensors")
    for name, tensor in tensors.items():
        shape = re.escape(f"{tuple(tensor.shape)}")
        save_file(tensors | {name: torch.zeros(3, 5)}, folder / "model.safetensors")
        with pytest.raises(ValueError, match=rf"the tensor {name} must have shape {shape}, got \(3, 5\)"):
            huggingface.load(folder)
        save_file(
            {other: value for other, value in tensors.items() if other != name}, folder / "model.safetensors"
        )
        with pytest.raises(ValueError, match=r"model.safetensors: the tensor .* is missing"):
            huggingface.load(folder)


def test_a_tensor_too_many_is_an_error(folder):
    change_tensors(folder, lambda tensors: tensors | {"adapter.weight": torch.zeros(2)})
    with pytest.raises(ValueError, match="the model has no place for adapter.weight"):
        huggingface.load(folder)


def test_an_untied_model_without_a_head_is_an_error(folder):
    change(folder, tie_word_embeddings=False)
    with pytest.raises(ValueError, match="the tensor lm_head.weight is missing"):
        huggingface.load(folder)


def test_the_wrong_loader_says_so(folder, kind):
    wrong = {"gpt2": huggingface.load_llama, "llama": huggingface.load_gpt2}[kind]
    with pytest.raises(ValueError, match=f"model_type must be .*, got {kind}: another kind of model"):
        wrong(folder)
    change(folder, model_type="bert")
    with pytest.raises(ValueError, match="model_type must be gpt2 or llama, got bert"):
        huggingface.load(folder)
    change(folder, model_type=["llama"])
    with pytest.raises(ValueError, match=r"model_type must be gpt2 or llama, got \['llama'\]"):
        huggingface.load(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file_is_an_error(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=name):
        huggingface.load(folder)


@pytest.mark.parametrize(
    "content, message",
    [
        ("{", "not a JSON file"),
        ("[]", "must hold an object, got list"),
        ("[" * 100_000, "not a JSON file"),
        ('{"n_layer": ' + "9" * 5000 + "}", "not a JSON file"),
    ],
)
def test_a_broken_config_is_an_error(folder, content, message):
    (folder / "config.json").write_text(content)
    with pytest.raises(ValueError, match=f"config.json: {message}"):
        huggingface.load(folder)


def test_a_mark_of_the_byte_order_at_the_beginning_is_no_error(folder):
    tokenizer.from_fields("f", tiny_fields()).engine.save(str(folder / "tokenizer.json"))
    for name in ("config.json", "generation_config.json", "tokenizer.json"):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())
    assert huggingface.load(folder)[1].stop == (2,)


def test_an_adapter_beside_the_model_is_not_ignored(folder):
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    with pytest.raises(ValueError, match="an adapter lies beside the model: merge it into the weights first"):
        huggingface.load(folder)


def test_a_file_cut_short_is_an_error(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="model.safetensors: not a whole safetensors file"):
        huggingface.load(folder)


def test_the_tokenizer_comes_along(folder):
    assert huggingface.load(folder)[1] is None
    tokenizer.from_fields("f", tiny_fields()).engine.save(str(folder / "tokenizer.json"))
    assert huggingface.load(folder)[1].stop == (2,)


def test_stop_ids(folder):
    tokenizer.from_fields("f", tiny_fields()).engine.save(str(folder / "tokenizer.json"))
    change(folder, eos_token_id=[1, 2])
    change(folder, "generation_config.json", eos_token_id=[0, 2])
    assert huggingface.load(folder)[1].stop == (0, 2)
    change(folder, "generation_config.json", eos_token_id=None)
    assert huggingface.load(folder)[1].stop == (1, 2)
    (folder / "generation_config.json").unlink()
    assert huggingface.load(folder)[1].stop == (1, 2)
    change(folder, eos_token_id=1)
    assert huggingface.load(folder)[1].stop == (1,)
    change(folder, eos_token_id=None)
    assert huggingface.load(folder)[1].stop == ()
