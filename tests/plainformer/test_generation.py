import numpy as np
import pytest
import torch
from shape_calls import ENGINES
from tiny_models import FAMILIES, VOCABULARY, tiny

from plainformer.generation import generate
from plainformer.training import mapped

every_family = pytest.mark.parametrize("family", FAMILIES)
on_both_engines = pytest.mark.parametrize("engine", ENGINES)
PROMPT = [3, 1, 4, 1, 5, 9]


def write(family, engine="numpy", count=8, seed=0, prompt=PROMPT, model=None, **settings):
    model = tiny(family, engine) if model is None else model
    return list(
        generate(FAMILIES[family].forward, model, prompt, count, np.random.default_rng(seed), **settings)
    )


def never(*arguments, **settings):
    raise AssertionError("the model ran")


@every_family
@on_both_engines
@pytest.mark.parametrize("count", [0, 1, 10])
def test_the_number_of_new_tokens(family, engine, count):
    new = write(family, engine, count)
    assert len(new) == count
    assert all(type(token) is int and 0 <= token < VOCABULARY for token in new)


@every_family
@on_both_engines
def test_temperature_0_takes_the_largest_logit_of_a_full_pass(family, engine):
    ids, model = list(PROMPT), tiny(family, engine)
    for _ in range(10):
        ids.append(int(np.argmax(np.asarray(FAMILIES[family].forward(ids, model)[0])[-1])))
    for seed in range(3):
        assert write(family, engine, 10, seed, temperature=0) == ids[6:]


@every_family
def test_draws_follow_the_models_probabilities(family):
    logits = FAMILIES[family].forward(PROMPT, tiny(family))[0][-1] / 1.5
    expected = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    rng, model, draws = np.random.default_rng(0), tiny(family), 400
    drawn = [
        next(generate(FAMILIES[family].forward, model, PROMPT, 1, rng, temperature=1.5)) for _ in range(draws)
    ]
    frequencies = np.bincount(drawn, minlength=VOCABULARY) / draws
    assert (np.abs(frequencies - expected) <= 4 * np.sqrt(expected * (1 - expected) / draws) + 1e-9).all()


@every_family
def test_a_seed_fixes_the_text(family):
    texts = [tuple(write(family, seed=seed, temperature=2.0)) for seed in (0, 0, 1, 2, 3)]
    assert texts[0] == texts[1] and len(set(texts)) > 2


@every_family
def test_the_prompt_goes_in_once_and_then_one_token_a_step(family):
    seen = []

    def spy(ids, model, cache=None, last=False):
        seen.append(np.array(ids).tolist())
        return FAMILIES[family].forward(ids, model, cache, last)

    new = list(generate(spy, tiny(family), PROMPT, 4, np.random.default_rng(0)))
    assert seen == [PROMPT, *([token] for token in new[:-1])]


@every_family
def test_it_ends_after_a_stop_id(family):
    free = write(family, count=10, temperature=2.0)
    place = next(i for i, token in enumerate(free) if i and token not in free[:i])
    assert write(family, count=10, temperature=2.0, stop=[free[place], 99]) == free[: place + 1]
    assert write(family, count=10, temperature=2.0, stop=[99]) == free


@every_family
@on_both_engines
def test_some_ids_are_never_drawn(family, engine):
    never = [0, *range(3, VOCABULARY)]
    assert set(write(family, engine, 10, temperature=9.0, never=never)) == {1, 2}
    assert set(write(family, engine, 10, temperature=0, never=never)) <= {1, 2}
    with pytest.raises(ValueError, match="every logit of a row is -inf: there is no word left to choose"):
        write(family, engine, never=range(VOCABULARY))


def test_tokens_come_as_soon_as_they_are_drawn():
    calls = []

    def spy(*arguments, **settings):
        calls.append(1)
        return FAMILIES["gpt2"].forward(*arguments, **settings)

    writing = generate(spy, tiny("gpt2"), PROMPT, 10, np.random.default_rng(0))
    next(writing)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "prompt, count, message",
    [
        (PROMPT, 5, "generate: prompt and new tokens are 11, more than the model's context of 8"),
        ([1] * 9, 0, "generate: prompt and new tokens are 9, more than the model's context of 8"),
        ([], 1, "generate: prompt must hold at least one token"),
        (PROMPT, -1, "generate: max_new_tokens must be a whole number"),
        (PROMPT, 1.5, "generate: max_new_tokens must be a whole number"),
        (PROMPT, None, "generate: max_new_tokens must be a whole number"),
        (PROMPT, 0.0, "generate: max_new_tokens must be a whole number of at least 0, got 0.0"),
        (PROMPT, False, "generate: max_new_tokens must be a whole number of at least 0, got False"),
        ([1.9, 2.2], 2, r"generate: prompt\[0\] must be a whole number from 0 to 10, got 1.9"),
        ("12", 2, r"generate: prompt\[0\] must be a whole number from 0 to 10, got '1'"),
        (np.array([[1, 2]]), 2, r"generate: prompt\[0\] must be a whole number from 0 to 10, got \[1, 2\]"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_model_runs(prompt, count, message):
    with pytest.raises(ValueError, match=message):
        generate(never, tiny("gpt2", context=8), prompt, count, np.random.default_rng(0))


@pytest.mark.parametrize(
    "change, message",
    [
        (dict(prompt=None), "prompt must be a list of token ids, got None"),
        (dict(prompt=5), "prompt must be a list of token ids, got 5"),
        (dict(stop=5), "stop must be a list of token ids, got 5"),
        (dict(stop=None), "stop must be a list of token ids, got None"),
        (dict(never=3), "never must be a list of token ids, got 3"),
        (dict(forward="gpt2"), "forward must be a function, got str"),
    ],
)
def test_what_is_of_another_kind_is_refused_before_the_model_runs(change, message):
    arguments = dict(
        forward=never, model=tiny("gpt2"), prompt=PROMPT, max_new_tokens=1, rng=np.random.default_rng(0)
    )
    with pytest.raises(TypeError, match=f"^generate: {message}"):
        generate(**arguments | change)


@pytest.mark.parametrize(
    "settings, message",
    [
        (dict(temperature=-1), "temperature"),
        (dict(temperature=np.nan), "temperature"),
        (dict(top_k=0), "k"),
        (dict(top_p=0), "p"),
        (dict(top_p=1.5), "p"),
        (dict(top_k=1.5), "k"),
    ],
)
def test_a_wrong_setting_is_refused_before_the_model_runs(settings, message):
    with pytest.raises(ValueError, match=rf"{message} must be"):
        generate(never, tiny("gpt2"), PROMPT, 1, np.random.default_rng(0), **settings)


@pytest.mark.parametrize("ids", [[VOCABULARY], [-1], [1.0]])
def test_an_id_that_is_none_cannot_be_ruled_out(ids):
    with pytest.raises(ValueError, match=r"generate: never\[0\] must be a whole number from 0 to 10, got"):
        generate(never, tiny("gpt2"), PROMPT, 1, np.random.default_rng(0), never=ids)


@pytest.mark.parametrize("rng", [0, None, np.random, torch.Generator()])
def test_a_wrong_generator_is_refused(rng):
    with pytest.raises(TypeError, match="generate: rng must be a numpy.random.Generator, got"):
        generate(never, tiny("gpt2"), PROMPT, 1, rng)


@every_family
@pytest.mark.parametrize("token", [-1, VOCABULARY])
def test_an_id_out_of_range_is_refused(family, token):
    with pytest.raises(
        ValueError, match=rf"generate: prompt\[1\] must be a whole number from 0 to 10, got {token}"
    ):
        generate(never, tiny(family), [1, token], 0, np.random.default_rng(0))


@every_family
@pytest.mark.parametrize("kind", [list, np.array, torch.tensor, iter])
def test_a_prompt_may_be_any_row_of_ids(family, kind):
    assert write(family, prompt=kind(PROMPT)) == write(family)


@every_family
def test_a_model_in_training_writes_too(family):
    model = mapped(lambda tensor: tensor.requires_grad_(), tiny(family, "torch"))
    assert write(family, model=model) == write(family, "torch")


@every_family
def test_a_model_in_bfloat16_writes_too(family):
    model = mapped(lambda tensor: tensor.to(torch.bfloat16), tiny(family, "torch"))
    assert len(write(family, model=model)) == 8


def test_the_prompt_is_left_alone():
    prompt = list(PROMPT)
    write("gpt2", prompt=prompt)
    assert prompt == PROMPT


@every_family
def test_a_full_context_can_be_used_up(family):
    assert len(write(family, count=2, model=tiny(family, context=8))) == 2
