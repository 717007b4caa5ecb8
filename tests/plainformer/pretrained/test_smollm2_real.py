"""The real model. Its logits were computed once with transformers from the same file."""

import json

import jinja2
import numpy as np
import pytest
import torch
import transformers

from plainformer import llama
from plainformer.ledger import parameter_ledger
from plainformer.pretrained import safetensors_file
from plainformer.pretrained import smollm2 as source

CAPITALS = "The capital of France is Paris. The capital of Germany is Berlin. The capital of Italy is Rome."


@pytest.fixture(scope="module")
def model(smollm2):
    return smollm2[0]


@pytest.fixture(scope="module")
def tokenizer(smollm2):
    return smollm2[1]


@pytest.fixture(scope="module")
def capitals(model, tokenizer):
    """The ids of a text and its logits."""
    ids = tokenizer.encode(CAPITALS)
    return ids, llama.forward(ids, model)[0]


def test_every_constant_comes_from_the_file(model):
    config = model.config
    assert (config.context, config.heads, config.base, config.pairing) == (8192, 9, 100000.0, "neighbours")
    assert config.eps == np.float32(1e-5)
    assert len(model.blocks) == 30 and model.embedding.shape == (49152, 576)
    attention, mlp = model.blocks[29].attention, model.blocks[29].mlp
    assert attention.query.weight.shape == (576, 576)
    assert attention.key.weight.shape == attention.value.weight.shape == (576, 192)
    assert mlp.gate.shape == mlp.up.shape == (576, 1536) and mlp.down.shape == (1536, 576)


def test_logits(model, tokenizer):
    ids = tokenizer.encode("The capital of France is")
    assert ids == [504, 3575, 282, 4649, 314]
    logits, _ = llama.forward(ids, model)
    assert logits.dtype == np.float32
    expected = {7042: 17.3713, 260: 14.8886, 4528: 13.2450, 2250: 13.0095, 1315: 12.9515}
    assert np.argsort(-logits[-1])[:5].tolist() == list(expected)
    np.testing.assert_allclose(logits[-1, list(expected)], list(expected.values()), rtol=0, atol=1e-3)


def test_loss(capitals):
    ids, logits = capitals
    assert len(ids) == 21
    logits = torch.tensor(logits, dtype=torch.float64)
    loss = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(ids[1:]))
    assert loss.item() == pytest.approx(1.3168, abs=5e-5)


@pytest.mark.parametrize("chunks", [[1] * 21, [5, 16], [20, 1], [7, 7, 7]], ids=str)
def test_the_cache_changes_nothing(model, capitals, chunks):
    ids, expected = capitals
    cache, rows = None, []
    for part in np.split(np.array(ids), np.cumsum(chunks)[:-1]):
        logits, cache = llama.forward(part, model, cache)
        rows.append(logits)
    np.testing.assert_allclose(np.concatenate(rows), expected, rtol=0, atol=1e-3)


def reference(model):
    """The same weights in transformers, which pairs the halves of a head where GGUF pairs neighbours."""
    config = transformers.LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=8192,
        rms_norm_eps=model.config.eps,
        tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": model.config.base},
    )
    with torch.device("meta"):
        result = transformers.LlamaForCausalLM(config)

    def halves(matrix, heads):
        return matrix.T.reshape(heads, 32, 2, 576).swapaxes(1, 2).reshape(-1, 576)

    state = dict.fromkeys(("model.embed_tokens.weight", "lm_head.weight"), model.embedding)
    state["model.norm.weight"] = model.norm
    for layer, block in enumerate(model.blocks):
        attention, mlp = block.attention, block.mlp
        state |= {
            f"model.layers.{layer}.{name}.weight": array
            for name, array in {
                "input_layernorm": block.attention_norm,
                "self_attn.q_proj": halves(attention.query.weight, 9),
                "self_attn.k_proj": halves(attention.key.weight, 3),
                "self_attn.v_proj": attention.value.weight.T,
                "self_attn.o_proj": attention.output.weight.T,
                "post_attention_layernorm": block.mlp_norm,
                "mlp.gate_proj": mlp.gate.T,
                "mlp.up_proj": mlp.up.T,
                "mlp.down_proj": mlp.down.T,
            }.items()
        }
    result.load_state_dict({name: torch.tensor(array) for name, array in state.items()}, assign=True)
    result.model.rotary_emb = type(result.model.rotary_emb)(config)  # its angles are no weights
    return result.eval()


def test_logits_are_those_of_transformers(model, capitals):
    ids, logits = capitals
    with torch.no_grad():
        expected = reference(model)(torch.tensor([ids])).logits[0].numpy()
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-3)


def test_the_ledger(model):
    ledger = parameter_ledger(model)
    assert sum(entry.count for entry in ledger) == 134_515_008
    assert model.head is None


def test_the_weights_are_views_of_the_file(model):
    for entry in (
        model.embedding,
        model.norm,
        model.blocks[3].attention.query.weight,
        model.blocks[29].mlp.down,
    ):
        assert entry.dtype == np.float32 and not entry.flags.writeable and not entry.flags.owndata


@pytest.mark.parametrize(
    "text, ids",
    [
        ("The", [504]),
        ("2024", [34, 32, 34, 36]),
        ("안녕", [183, 239, 226, 182, 223, 239]),
        ("<|im_start|>user\n", [1, 4093, 198]),
        ("", []),
    ],
)
def test_the_tokenizer(tokenizer, text, ids):
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode(ids) == text
    assert "".join(tokenizer.stream(ids)) == text


def test_the_end_of_a_turn(tokenizer):
    assert tokenizer.eos == 2 and tokenizer.decode([2]) == "<|im_end|>"


@pytest.mark.parametrize(
    "messages",
    [
        [("user", "Hello?")],
        [("system", "Be brief."), ("user", "Hello?")],
        [("user", "Hello?"), ("assistant", "Hello."), ("user", "And\nnow?")],
    ],
)
def test_the_chat_template_is_that_of_the_file(smollm2, messages):
    _, metadata = safetensors_file.read(source.cache_folder() / source.KEPT)
    template = jinja2.Template(json.loads(metadata["fields"])["tokenizer.chat_template"])
    expected = template.render(
        messages=[{"role": r, "content": c} for r, c in messages], add_generation_prompt=True
    )
    assert source.chat(messages) == expected
    assert source.chat_ids(messages, smollm2[1]) == smollm2[1].encode(expected)
