import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import TOKENS, tiny_fields
from tokenizers import Tokenizer as Engine
from tokenizers import decoders, models

from plainformer.pretrained import tokenizer


@pytest.fixture(scope="module")
def tiny():
    return tokenizer.from_fields("f", tiny_fields())


def names(tiny, text):
    return [TOKENS[token] for token in tiny.encode(text)]


def test_merges_and_bytes(tiny):
    assert names(tiny, "the the") == ["the", "Ġthe"]
    assert names(tiny, "é") == ["Ã", "©"]
    assert tiny.encode("") == []


def test_every_digit_is_a_token(tiny):
    assert names(tiny, "a 2024") == ["a", "Ġ", "2", "0", "2", "4"]


def test_special_tokens_are_recognized(tiny):
    assert tiny.encode("<|im_start|>the<|im_end|>") == [1, TOKENS.index("the"), 2]
    assert tiny.eos == 2 and tiny.stop == (2,)
    assert tiny.decode([1, 2]) == "<|im_start|><|im_end|>"


def test_there_is_no_beginning_token(tiny):
    assert tiny.encode("the") == [TOKENS.index("the")]


@given(text=st.text())
def test_text_comes_back(tiny, text):
    ids = tiny.encode(text)
    assert tiny.decode(ids) == text
    assert "".join(tiny.stream(ids)) == text


@given(ids=st.lists(st.integers(0, len(TOKENS) - 1)))
def test_the_stream_is_the_text_even_of_broken_characters(tiny, ids):
    assert "".join(tiny.stream(ids)) == tiny.decode(ids)


def test_a_character_waits_for_its_bytes(tiny):
    assert list(tiny.stream(tiny.encode("a안b"))) == ["a", "", "", "안", "b", ""]


def test_the_space_before_the_first_word_is_not_lost():
    vocabulary = {"<unk>": 0, "▁the": 1, "▁cat": 2}
    engine = Engine(models.BPE(vocabulary, [], unk_token="<unk>"))
    engine.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    llama = tokenizer.Tokenizer(engine)
    assert llama.decode([1, 2]) == "the cat"
    assert list(llama.stream([2, 1, 2])) == ["cat", " the", " cat", ""]
    assert list(llama.stream([2], after=[1])) == [" cat", ""]


def test_pieces_come_as_soon_as_their_ids(tiny):
    given_out = []

    def ids():
        for token in tiny.encode("the the"):
            given_out.append(token)
            yield token

    pieces = tiny.stream(ids())
    assert next(pieces) == "the" and len(given_out) == 1


@pytest.mark.parametrize("ids", [[-1], [len(TOKENS)], [0, 10**9]])
def test_ids_out_of_range_are_refused(tiny, ids):
    with pytest.raises(
        ValueError, match=rf"decode: ids\[.\] must be a whole number from 0 to {len(TOKENS) - 1}, got "
    ):
        tiny.decode(ids)


@pytest.mark.parametrize("ids, got", [("12", "'1'"), ([1.7], "1.7"), ([True], "True"), ([[1]], r"\[1\]")])
def test_ids_are_whole_numbers(tiny, ids, got):
    with pytest.raises(
        ValueError, match=rf"decode: ids\[0\] must be a whole number from 0 to {len(TOKENS) - 1}, got {got}$"
    ):
        tiny.decode(ids)
    with pytest.raises(ValueError, match=rf"stream: ids\[1\] must be .*, got {got}$"):
        list(tiny.stream([1, *ids], after=[1, 2]))
    with pytest.raises(ValueError, match=rf"stream: after\[0\] must be .*, got {got}$"):
        list(tiny.stream([], after=ids))


def test_a_single_id_is_no_list(tiny):
    with pytest.raises(TypeError, match="decode: ids must be a list of token ids, got 5"):
        tiny.decode(5)


def cut(tiny, text, place):
    """What a stream shows that goes on after the first ``place`` ids of a text."""
    ids = tiny.encode(text)
    return "".join(tiny.stream(ids[place:], after=ids[:place]))


def test_a_character_that_after_cuts_in_two_is_not_lost(tiny):
    assert [cut(tiny, "a안b", place) for place in range(6)] == ["a안b", "안b", "안b", "안b", "b", ""]
    assert list(tiny.stream([], after=tiny.encode("a안")[:2])) == [""]


def test_a_replacement_character_before_is_not_shown_again(tiny):
    assert cut(tiny, "a\ufffd안b", 4) == "안b" and cut(tiny, "a\ufffdb", 4) == "b"


@pytest.mark.parametrize("text", ["\ud800", "ab\udcff"])
def test_half_a_character_is_refused(tiny, text):
    with pytest.raises(
        ValueError,
        match=rf"encode: text must be Unicode, got '\{text[-1:].encode('unicode_escape').decode()}'",
    ):
        tiny.encode(text)


@pytest.mark.parametrize("text", [None, b"the", ["the"]])
def test_only_text_is_encoded(tiny, text):
    with pytest.raises(TypeError, match="encode: text must be a str, got "):
        tiny.encode(text)


@pytest.mark.parametrize("key", [key for key in tiny_fields() if key.startswith("tokenizer")])
def test_a_missing_key_is_an_error(key):
    fields = tiny_fields()
    del fields[key]
    with pytest.raises(ValueError, match=f"^f: the key {key} is missing$"):
        tokenizer.from_fields("f", fields)


@pytest.mark.parametrize(
    "key, value",
    [("model", "llama"), ("pre", "llama-bpe"), ("add_bos_token", True), ("add_space_prefix", True)],
)
def test_another_kind_of_tokenizer_is_an_error(key, value):
    with pytest.raises(ValueError, match=f"^f: tokenizer.ggml.{key} must be .*, got {value}$"):
        tokenizer.from_fields("f", tiny_fields() | {f"tokenizer.ggml.{key}": value})


def test_a_tokenizer_file(tiny, tmp_path):
    tiny.engine.save(str(tmp_path / "tokenizer.json"))
    copy = tokenizer.from_file(tmp_path / "tokenizer.json", [2, 0])
    assert copy.encode("the the<|im_end|>") == tiny.encode("the the<|im_end|>")
    assert copy.stop == (2, 0) and copy.eos == 2
    assert tokenizer.from_file(tmp_path / "tokenizer.json").eos is None


@pytest.mark.parametrize("content", [b"", b"[]", json.dumps({"model": 3}).encode(), b"\xff", b"[" * 100_000])
def test_a_broken_tokenizer_file_is_an_error(tmp_path, content):
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(ValueError, match="tokenizer.json: not a tokenizer file: "):
        tokenizer.from_file(tmp_path / "tokenizer.json")


def test_a_missing_tokenizer_file_is_no_broken_one(tmp_path):
    with pytest.raises(FileNotFoundError, match="tokenizer.json"):
        tokenizer.from_file(tmp_path / "tokenizer.json")
