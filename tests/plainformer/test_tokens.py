"""Byte-pair encoding: a case by hand, and the tokenizers library on SmolLM2's own merges."""

import json
import random
import sys

import pytest
from project import THOROUGH

from plainformer import tokens

TEXTS = [
    "The capital of France is Paris.", "don't  we'll 's  ''s it's", "안녕하세요, 세계!",
    "def f(x):\n    return x ** 2\n\n\n", "2024 10,000 ² Ⅷ ١٢",
    "🙂👩‍👩‍👧 é e\u0301", "  two  blanks \t tab \r\n end  ", "a\u00a0b\u3000c\u200bd\x85e\x1cf", "",
    "<|im_end|>", "1 2  3   4", "中文一二三 ½", "ʼn ﬁ ǅ _x_ __",
]  # fmt: skip


def alphabet():
    """GPT-2's printable characters for bytes, as the engine writes its tokens."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + i): byte for i, byte in enumerate(rest)}


@pytest.fixture(scope="module")
def theirs(smollm2):
    return smollm2[1]


@pytest.fixture(scope="module")
def ours(theirs):
    """SmolLM2's merges as a BPE of ours."""
    model, back = json.loads(theirs.engine.to_str())["model"], alphabet()

    def raw(token):
        return bytes(back[character] for character in token)

    listed = sorted(model["vocab"], key=model["vocab"].get)
    known = tuple(raw(token) if set(token) <= back.keys() else token.encode() for token in listed)
    ranks = {tuple(map(raw, pair)): rank for rank, pair in enumerate(model["merges"])}
    return tokens.BPE(known, ranks, digits_alone=True)


def some_text(dice):
    """Random Unicode without surrogates, with much that the split looks at."""
    letters = "abst' '\n\t 19²½é안녕中一🙂,.\u200d\u0301\u3000\x85\x1c"

    def one():
        if dice.random() < 0.85:
            return dice.choice(letters)
        point = dice.randrange(sys.maxunicode + 1)
        return "?" if 0xD800 <= point < 0xE000 else chr(point)

    return "".join(one() for _ in range(dice.randrange(1, 24)))


@pytest.mark.parametrize("text", TEXTS)
def test_the_ids_are_those_of_the_library(text, ours, theirs):
    assert tokens.encode(text, ours) == theirs.encode(text, special=False)


def test_random_texts_have_the_library_s_ids_and_come_back(ours, theirs):
    """Those of whose bytes SmolLM2 knows all: the library merges across the gaps that others leave."""
    dice, known = random.Random(0), {token[0] for token in ours.tokens if len(token) == 1}
    ids, compared = {token: i for i, token in enumerate(ours.tokens)}, 0
    for _ in range(10_000 if THOROUGH else 1_000):
        text = some_text(dice)
        parts = [part for piece in tokens.split(text, True) for part in tokens.cut(piece, ours.ranks)]
        assert b"".join(parts).decode() == text
        if known.issuperset(text.encode()):
            compared += 1
            assert [ids[part] for part in parts] == theirs.encode(text, special=False), ascii(text)
    assert compared > 300


@pytest.mark.parametrize(
    "text, message", [("a\x04", r"bytes that bpe knows, got b'\\x04'"), (b"a", "must be a str, got bytes")]
)
def test_what_cannot_be_encoded(text, message, ours):
    with pytest.raises((ValueError, TypeError), match=message):
        tokens.encode(text, ours)


def test_by_hand():
    bpe = tokens.train("aab aab ab", 2)
    assert list(bpe.ranks) == [(b"a", b"b"), (b"a", b"ab")]
    assert [bpe.tokens[i] for i in tokens.encode("aab", bpe)] == [b"aab"]


def test_of_equals_the_first_in_the_order_of_bytes():
    assert list(tokens.train("dc ba", 1).ranks) == [(b" ", b"b")]


def test_the_earliest_merge_goes_first_wherever_it_stands():
    bpe = tokens.BPE((b"a", b"b", b"c", b"bc", b"ab"), {(b"b", b"c"): 0, (b"a", b"b"): 1})
    assert tokens.encode("abc", bpe) == [0, 3]


def test_training_stops_where_nothing_is_left():
    bpe = tokens.train("ab", 5)
    assert len(bpe.ranks) == 1 and len(bpe.tokens) == 257


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_comes_back(text):
    bpe = tokens.train("the cat sat on the mat " * 3, 20)
    ids = tokens.encode(text, bpe)
    assert tokens.decode(ids, bpe) == text
    assert len(ids) <= len(text.encode())


def test_half_a_character_is_shown_as_one_that_is_missing():
    bpe = tokens.train("", 0)
    assert tokens.decode("안".encode()[:2], bpe) == "\ufffd"


def test_trained_merges_are_those_of_the_library():
    """On a text whose counts never tie among what is merged."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    text = "that\n" * 7 + "cat\n" * 4 + "then\n" * 2
    engine = Tokenizer(models.BPE())
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=256 + 3, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    engine.train_from_iterator([text], trainer)
    back = alphabet()
    merges = json.loads(engine.to_str())["model"]["merges"]
    learnt = [tuple(bytes(back[c] for c in part) for part in pair) for pair in merges]
    assert learnt == list(tokens.train(text, 3).ranks)
