import itertools
import math

import numpy as np
import pytest
import torch

from plaincourse import language
from plainformer import gpt2
from plainformer.generation import generate
from plainformer.training import Schedule, train, trainable, trained


def test_the_words_are_twenty_and_no_two_alike():
    assert len(language.WORDS) == len(set(language.WORDS)) == 20


def test_the_language_is_a_distribution():
    ids, probabilities = language.table()
    assert ids.shape == (504, language.LENGTH) and len(np.unique(ids, axis=0)) == 504
    assert (probabilities > 0).all() and math.fsum(probabilities) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    "sentence, legal",
    [
        ("cat fish quietly eats", True),
        ("cats fish quietly eat", True),
        ("dog milk drinks", True),
        ("birds water slowly today drink", True),
        ("cat fish quietly eat", False),
        ("cats fish eats", False),
        ("dog milk eats", False),
        ("dogs seeds today drink", False),
        ("fish cat eats", False),
        ("cat fish", False),
    ],
)
def test_the_verb_agrees_with_subject_and_object(sentence, legal):
    words = (language.START, *sentence.split())
    row = (*words, *[language.STOP] * (language.LENGTH - len(words)))
    assert (row in language.sentences()) == legal


def test_a_pencil_gives_the_floor():
    # ln 6 for the subject, ln 4 for the object; then a coin, and after heads an adverb and another coin; the
    # verb is sure.
    adverbs = math.log(2) + 0.5 * (math.log(4) + math.log(2) + 0.5 * math.log(4))
    whole = math.log(6) + math.log(4) + adverbs
    assert language.floor() == pytest.approx(whole / (language.LENGTH - 1), rel=1e-12)
    probabilities = language.table()[1]
    assert -(probabilities * np.log(probabilities)).sum() == pytest.approx(whole, rel=1e-12)


def test_without_attention_the_agreement_costs_what_a_pencil_says():
    # The word before and its place leave the subject's number open, 1 bit; and half of the time, after an
    # adverb, also the object's kind. Place 3 tells how many adverbs there were, place 4 too.
    extra = 0.5 * math.log(2) + 0.5 * 2 * math.log(2)
    assert language.floor_without_context() == pytest.approx(
        language.floor() + extra / (language.LENGTH - 1), rel=1e-12
    )


def test_samples_follow_the_language():
    ids, probabilities = language.table()
    drawn = language.sample(np.random.default_rng(0), 50_000)
    assert drawn.shape == (50_000, language.LENGTH)
    rows, counts = np.unique(drawn, axis=0, return_counts=True)
    expected = {tuple(row): p for row, p in zip(ids, probabilities)}
    for row, count in zip(rows, counts):
        p = expected[tuple(row)]
        assert abs(count / 50_000 - p) < 5 * math.sqrt(p / 50_000)
    assert set(map(tuple, rows)) == set(expected)


def test_a_seed_fixes_the_batches():
    def first(seed):
        return list(itertools.islice(language.batches(np.random.default_rng(seed), 3), 2))

    assert np.array_equal(first(0), first(0)) and not np.array_equal(first(0), first(1))
    assert first(0)[0].shape == (3, language.LENGTH)


def test_words_become_ids_and_words_again():
    ids = language.encode("<start> cat fish quietly eats . .")
    assert [language.WORDS[i] for i in ids] == ["<start>", "cat", "fish", "quietly", "eats", ".", "."]
    assert language.decode(ids) == "<start> cat fish quietly eats ."
    assert language.decode(ids[1:4]) == "cat fish quietly"
    with pytest.raises(ValueError, match="encode: text holds 'tiger', which is not a word of the language"):
        language.encode("cat tiger eats")


def test_no_words_are_no_ids():
    for text in ("", "  "):
        assert (
            language.encode(text).shape == (0,)
            and language.encode(text).dtype == language.encode("cat").dtype
        )
    assert language.decode(language.encode("")) == ""


def test_ids_of_every_kind_are_read():
    for ids in (
        [2, 8],
        (2, 8),
        np.array([2, 8]),
        np.array([2, 8], dtype=np.uint8),
        [np.int64(2), 8],
        torch.tensor([2, 8]),
    ):
        assert language.decode(ids) == "cat fish"


@pytest.mark.parametrize(
    "ids", [[-1], [20], [99], [2.0], ["cat"], [True], [None], [[2, 8]], "cat", np.array([1.5])]
)
def test_an_id_that_is_no_word_is_named(ids):
    with pytest.raises(ValueError, match=r"^decode: ids\[0\] must be a whole number from 0 to 19, got "):
        language.decode(ids)


@pytest.mark.parametrize("ids", [3, None])
def test_ids_are_a_list(ids):
    with pytest.raises(TypeError, match=f"^decode: ids must be a list of token ids, got {ids}"):
        language.decode(ids)


@pytest.mark.parametrize("text", [None, 3, ["cat"], b"cat"])
def test_only_text_is_encoded(text):
    with pytest.raises(TypeError, match="^encode: text must be a str, got "):
        language.encode(text)


@pytest.mark.parametrize("draw", [language.sample, lambda rng, count: next(language.batches(rng, count))])
def test_a_sample_needs_a_generator_and_a_count(draw):
    for rng in (0, None, np.random):
        with pytest.raises(TypeError, match="^sample: rng must be a numpy.random.Generator, got "):
            draw(rng, 3)
    for count in (0, -1, 1.5, "3", None, True):
        with pytest.raises(ValueError, match="^sample: count must be a whole number of at least 1, got "):
            draw(np.random.default_rng(0), count)


def test_a_tiny_decoder_learns_it():
    """As in the training chapter, with a larger model: close to the floor, below what is possible without
    attention, and the verb right.
    """
    rng = np.random.default_rng(0)
    config = gpt2.Config(context=language.LENGTH, heads=2, eps=1e-5)
    model = trainable(gpt2.initialize(config, len(language.WORDS), 32, 2, rng, std=0.1))
    losses = list(
        train(gpt2.forward, model, language.batches(rng, 64), Schedule(peak=0.01, steps=300, warmup=15))
    )
    assert losses[0] == pytest.approx(2.764914, abs=1e-6)
    ids, probabilities = language.table()
    arrays = trained(model)
    logits, _ = gpt2.forward(ids, arrays)
    logits = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    surprise = (
        -np.take_along_axis(logits[:, :-1], ids[:, 1:, None], axis=-1)[..., 0].mean(axis=-1) @ probabilities
    )
    assert language.floor() < surprise < language.floor() + 0.005
    assert surprise < language.floor_without_context() - 0.15
    assert surprise == pytest.approx(
        0.8796584, abs=1e-6
    )  # to the digits that the chapter prints, on any machine
    legal, start = set(map(tuple, ids)), language.encode(language.START)
    written = [(*start, *generate(gpt2.forward, arrays, start, language.LENGTH - 1, rng)) for _ in range(50)]
    assert sum(row in legal for row in written) >= 48
