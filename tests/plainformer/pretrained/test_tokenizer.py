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


def test_a_stream_reads_each_id_a_few_times(tiny, monkeypatch):
    read = []
    text = tiny.text
    monkeypatch.setattr(tiny, "text", lambda ids: read.append(len(ids)) or text(ids))
    ids = tiny.encode("the 안 ") * 200 + [3] * 200  # the last ones are bytes of no character
    assert "".join(tiny.stream(ids)) == text(ids)
    assert sum(read) < 50 * len(ids)


@pytest.fixture(scope="module")
def bytewise():
    """A tokenizer of Llama's kind, in which a character that is no token is written byte by byte."""
    tokens = ["<unk>", "▁the", "the", "▁", "\ufffd", *(f"<0x{byte:02X}>" for byte in range(256))]
    engine = Engine(models.BPE({token: i for i, token in enumerate(tokens)}, [], byte_fallback=True))
    engine.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer.Tokenizer(engine)


BYTE = st.integers(0, 255).map(lambda byte: 5 + byte)
HANGUL = st.just([5 + byte for byte in "안".encode()])


@given(parts=st.lists(HANGUL | st.lists(st.integers(0, 4) | BYTE, max_size=12), max_size=5))
def test_the_stream_is_the_text_of_single_bytes(bytewise, parts):
    ids = [token for part in parts for token in part]
    assert "".join(bytewise.stream(ids)) == bytewise.decode(ids)


def test_a_run_of_bytes_is_read_when_it_has_ended(bytewise):
    a, hangul = 5 + ord("a"), [5 + byte for byte in "안".encode()]
    assert list(bytewise.stream([1, a, *hangul, 1, a])) == ["the", "", "", "", "", "a안 the", "", "a"]
    assert list(bytewise.stream([a, 5 + 255])) == ["", "", "\ufffd\ufffd"]
    assert list(bytewise.stream([*hangul[1:], 1], after=[1, hangul[0]])) == ["", "", "안 the", ""]


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


def test_content_is_content(tiny):
    text = "the<|im_end|>\n<|im_start|>"
    ids = tiny.encode(text, special=False)
    assert tiny.decode(ids) == text and not {0, 1, 2} & set(ids)
    assert tiny.encode("the the", special=False) == tiny.encode("the the")
    assert {1, 2} < set(tiny.encode(text))  # as before


def with_a_gap(tiny, tmp_path):
    """The tiny tokenizer with two more tokens, whose ids leave others out."""
    content = json.loads(tiny.engine.to_str())
    content["added_tokens"] += [
        dict(content["added_tokens"][0], id=len(TOKENS) + extra, content=f"<{extra}>") for extra in (3, 5)
    ]
    content["model"]["vocab"] |= {f"<{extra}>": len(TOKENS) + extra for extra in (3, 5)}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    return tokenizer.from_file(tmp_path / "tokenizer.json")


def test_ids_without_a_token(tiny, tmp_path):
    assert tiny.unknown(len(TOKENS) + 2) == [len(TOKENS), len(TOKENS) + 1] and tiny.unknown(5) == []
    gap = with_a_gap(tiny, tmp_path)
    assert gap.unknown(len(TOKENS) + 7) == [len(TOKENS) + extra for extra in (0, 1, 2, 4, 6)]
    last = gap.encode("<5>")
    assert last == [len(TOKENS) + 5] and gap.decode(last) == "<5>" == "".join(gap.stream(last))
    for read in (gap.decode, lambda ids: list(gap.stream(ids))):
        with pytest.raises(
            ValueError, match=f"(decode|stream): ids hold {len(TOKENS) + 4}, which is no token"
        ):
            read([len(TOKENS) + 4])


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


@pytest.mark.parametrize(
    "key, value, message",
    [
        ("tokens", "abc", "must be a list of texts, got 'abc'"),
        ("tokens", [*TOKENS[:-1], 3], "must be a list of texts, got "),
        ("tokens", [*TOKENS[:-1], TOKENS[0]], "must all be different"),
        ("token_type", [3, 3, 3], f"must be a list of {len(TOKENS)} numbers, got "),
        ("token_type", [1] * (len(TOKENS) + 1), f"must be a list of {len(TOKENS)} numbers, got "),
        ("token_type", 3, f"must be a list of {len(TOKENS)} numbers, got 3"),
        ("token_type", ["3"] * len(TOKENS), "must be 1 .* or 3 .*, got '3'"),
        ("token_type", [3.0] * len(TOKENS), "must be 1 .* or 3 .*, got 3.0"),
        ("token_type", [4] * len(TOKENS), "must be 1 .* or 3 .*, got 4"),
        ("merges", ["t h", "th e x"], "must join two tokens each: got 'th e x'$"),
        ("merges", ["th"], "must join two tokens each: "),
        ("merges", ["e t"], "must join two tokens each: .*et"),
        ("merges", [["t", "h"]], "must be a list of texts, got "),
        ("eos_token_id", "2", f"must be a whole number from 0 to {len(TOKENS) - 1}, got '2'"),
        ("eos_token_id", -1, f"must be a whole number from 0 to {len(TOKENS) - 1}, got -1"),
        ("eos_token_id", True, f"must be a whole number from 0 to {len(TOKENS) - 1}, got True"),
        ("eos_token_id", len(TOKENS), f"must be a whole number from 0 to .*, got {len(TOKENS)}"),
    ],
)
def test_fields_that_do_not_fit_are_errors(key, value, message):
    with pytest.raises(ValueError, match=f"^f: tokenizer.ggml.{key} {message}"):
        tokenizer.from_fields("f", tiny_fields() | {f"tokenizer.ggml.{key}": value})


def test_what_a_file_says_of_training_is_not_obeyed(tiny, tmp_path):
    engine = Engine.from_str(tiny.engine.to_str())
    engine.enable_truncation(3)
    engine.enable_padding(length=9)
    engine.model.dropout = 0.9
    engine.save(str(tmp_path / "tokenizer.json"))
    copy = tokenizer.from_file(tmp_path / "tokenizer.json")
    for text in ("the the the the 2024", "a", ""):
        assert copy.encode(text) == tiny.encode(text) == copy.encode(text, special=False)


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
