"""``python -m plainformer``, as a user starts it."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from tiny import TOKENS, tiny_fields

import plainformer
from plainformer import gpt2
from plainformer.generation import generate
from plainformer.pretrained import command_line, smollm2, tokenizer

COMMAND = [sys.executable, "-m", "plainformer"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny random GPT-2 with a tokenizer. It writes gibberish."""
    path = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(0)
    transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=len(TOKENS),
            n_layer=1,
            n_embd=8,
            n_head=2,
            n_positions=64,
            bos_token_id=None,
            eos_token_id=2,
        )
    ).save_pretrained(path)
    tokenizer.from_fields("f", tiny_fields()).engine.save(str(path / "tokenizer.json"))
    return path


def environment(**variables):
    source = str(Path(plainformer.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": ""} | variables


def run(*arguments, typed="", **variables):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=typed,
        capture_output=True,
        encoding="utf-8",
        env=environment(**variables),
    )


def test_it_writes_on(folder):
    result = run("the the", "--model", folder, "--max-new-tokens", 20, "--seed", 3)
    assert result.returncode == 0
    assert result.stdout.startswith("the the") and result.stdout.endswith("\n") and len(result.stdout) > 20
    assert "2 tokens read in " in result.stderr and " tokens/s; 20 new]" in result.stderr


def test_a_seed_gives_the_same_text_again(folder):
    first, again, other = (run("the", "--model", folder, "--seed", seed).stdout for seed in (1, 1, 2))
    assert first == again != other


def test_settings_reach_the_sampler(folder):
    greedy = [
        run("the", "--model", folder, *settings).stdout
        for settings in (["--temperature", 0], ["--top-k", 1], ["--top-p", 1e-9])
    ]
    assert greedy[0] == greedy[1] == greedy[2]


def test_one_new_token(folder):
    result = run("the", "--model", folder, "--max-new-tokens", 1)
    assert result.returncode == 0 and "tokens/s" not in result.stderr and "; 1 new]" in result.stderr


def test_the_table_of_next_tokens(folder):
    result = run("the", "--model", folder, "--top", 5)
    rows = [line.split() for line in result.stdout.splitlines()]
    assert result.returncode == 0 and result.stderr == "" and len(rows) == 5
    shares = [float(row[0]) for row in rows]
    assert shares == sorted(shares, reverse=True) and 0 < sum(shares) < 1
    careful = run("the", "--model", folder, "--top", 5, "--temperature", 0).stdout.splitlines()
    assert careful[0].split()[:2] == ["1.0000", rows[0][1]] and len(careful) == 1
    assert (
        len(run("the", "--model", folder, "--top", 3, "--top-k", 2).stdout.splitlines()) == 2
    )  # the rest is dropped


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "a prompt is missing"),
        ([""], "argument prompt: it is empty"),
        (["a", "--model", ""], "argument --model: it is empty"),
        (
            ["a", "--temperature", "-1"],
            "argument --temperature: temperature must be a finite number, at least 0, got -1.0",
        ),
        (
            ["a", "--temperature", "nan"],
            "argument --temperature: temperature must be a finite number, at least 0, got nan",
        ),
        (["a", "--top-k", "0"], "argument --top-k: k must be a whole number of at least 1, got 0"),
        (
            ["a", "--top-p", "1.5"],
            "argument --top-p: p must be a finite number, greater than 0 and at most 1, got 1.5",
        ),
        (["a", "--seed", "-1"], "argument --seed: seed must be a whole number of at least 0, got -1"),
        (
            ["a", "--max-new-tokens", "0"],
            "argument --max-new-tokens: max_new_tokens must be a whole number of at least 1, got 0",
        ),
        (["a", "--top", "x"], "argument --top: must be a whole number, got x"),
        (["a", "--top", "0"], "argument --top: top must be a whole number of at least 1, got 0"),
        (["a", "--top-k", "2.5"], "argument --top-k: must be a whole number, got 2.5"),
        (["a", "--chat", "--top", "3"], "--chat goes with SmolLM2"),
        (["--chat", "--model", "x"], "--chat goes with SmolLM2"),
    ],
)
def test_wrong_options_are_refused_before_a_model_is_loaded(tmp_path, arguments, message):
    result = run(*arguments, PLAINFORMER_CACHE=str(tmp_path / "none"))
    assert result.returncode == 2 and message in result.stderr
    assert "Traceback" not in result.stderr and not (tmp_path / "none").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are bytes elsewhere")
def test_a_prompt_that_is_not_text(folder):
    result = subprocess.run([*COMMAND, b"\xff", "--model", folder], capture_output=True, env=environment())
    assert result.returncode == 2 and b"argument prompt: it is not UTF-8" in result.stderr


def check_error(result, message):
    assert result.returncode == 2 and result.stdout == ""
    assert (
        result.stderr.startswith("plainformer: ")
        and message in result.stderr
        and result.stderr.count("\n") == 1
    )


def test_a_prompt_that_is_too_long(folder):
    check_error(
        run("a" * 60, "--model", folder, "--max-new-tokens", 5), "are 65, more than the model's context of 64"
    )
    check_error(
        run("a" * 65, "--model", folder, "--top", 5), "65 tokens do not fit into the model's context of 64"
    )


def test_a_folder_that_is_none(tmp_path):
    check_error(run("a", "--model", tmp_path / "none"), "config.json")


def test_a_folder_without_a_tokenizer(folder, tmp_path):
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    check_error(run("a", "--model", tmp_path), f"{tmp_path} has no tokenizer.json")


def test_no_network(tmp_path):
    package = tmp_path / "fake/pip"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; sys.exit('ERROR: no network')")
    result = run(
        "a",
        PLAINFORMER_CACHE=str(tmp_path / "cache"),
        PYTHONPATH=os.pathsep.join([str(package.parent), environment()["PYTHONPATH"]]),
    )
    assert result.returncode == 2 and "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1].startswith("plainformer: SmolLM2 could not be fetched")


def test_a_folder_without_a_model(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "none", tmp_path / "file"):
        check_error(
            run("a", "--model", str(place)), f"{place}: no folder of a model: it holds no config.json"
        )


def test_a_missing_library(folder, tmp_path):
    (tmp_path / "tokenizers.py").write_text("raise ModuleNotFoundError(name='tokenizers')")
    result = run(
        "a", "--model", folder, PYTHONPATH=os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    )
    check_error(
        result, 'the library tokenizers is missing; in the folder of the course: pip install -e ".[models]"'
    )


def heed_ctrl_c():
    """In the background of a shell, where these tests may run, programs ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*arguments):
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        preexec_fn=None if sys.platform == "win32" else heed_ctrl_c,
    )


def endless(folder, tmp_path):
    """A copy of the folder whose model writes more than a pipe holds: it waits for a reader at last."""
    model = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=len(TOKENS),
            n_layer=1,
            n_embd=8,
            n_head=2,
            n_positions=200_001,
            bos_token_id=None,
            eos_token_id=None,
        )
    )
    model.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    return start("the", "--model", tmp_path, "--max-new-tokens", 200_000)


def test_a_token_is_shown_before_the_next_is_computed(folder, monkeypatch):
    class Screen(io.StringIO):
        hidden = ""

        def write(self, text):
            self.hidden += text
            return super().write(text)

        def flush(self):
            self.hidden = ""

    def watched(*arguments):
        for token in generate(*arguments):
            assert screen.hidden == ""
            yield token

    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(command_line, "generate", watched)
    assert command_line.main(["the the", "--model", str(folder), "--max-new-tokens", "20"]) == 0
    assert screen.getvalue().startswith("the the") and len(screen.getvalue()) > 20


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_ends_it(folder, tmp_path):
    with endless(folder, tmp_path) as process:
        assert process.stdout.read(20).startswith(b"the")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130 and errors == b"\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes that break")
def test_a_closed_pipe_ends_it_quietly(folder, tmp_path):
    with endless(folder, tmp_path) as process:
        process.stdout.read(20)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_console_that_lacks_a_character(folder):
    result = run("the", "--model", folder, "--seed", 1, PYTHONIOENCODING="ascii")
    assert result.returncode == 0 and result.stdout.startswith("the") and "?" in result.stdout


def test_torch_is_not_needed(folder, tmp_path):
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('torch')")
    result = run(
        "the", "--model", folder, PYTHONPATH=os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    )
    assert result.returncode == 0, result.stderr


def writer(*arguments, context=64, rows=None):
    """A tiny random model, as the command holds it."""
    rng = np.random.default_rng(0)
    model = gpt2.initialize(gpt2.Config(context, 2, 1e-5), rows or len(TOKENS), 8, 1, rng)
    options = command_line.read_options(arguments)
    return command_line.Writer(model, tokenizer.from_fields("f", tiny_fields()), rng, options)


def test_an_id_without_a_token_is_never_drawn(capsys):
    padded = writer("the", "--max-new-tokens", "60", rows=5000)
    assert command_line.write_on(padded, [3]) and "60 new" in capsys.readouterr().err
    command_line.show_next(writer("the", "--top", "9999", rows=5000))
    assert len(capsys.readouterr().out.splitlines()) == len(TOKENS)


def conversation(monkeypatch, capsys, typed, *arguments, **sizes):
    """What ``--chat`` does with what is typed: the texts that the model is given, stdout and stderr."""
    given, typed = [], list(typed)

    def read(prompt):
        if not typed:
            raise EOFError
        return typed.pop(0)

    monkeypatch.setattr("builtins.input", read)
    original = command_line.write_on
    monkeypatch.setattr(
        command_line,
        "write_on",
        lambda writer, ids: (given.append(writer.tokenizer.decode(ids)), original(writer, ids))[1],
    )
    talk = writer("--chat", *arguments, **sizes)
    command_line.converse(talk, smollm2.chat_ids)
    return given, capsys.readouterr()


def test_a_line_that_is_too_long_is_left_out_and_the_next_is_read(monkeypatch, capsys):
    typed = ["one", "a" * 900, "two"]
    given, (_, err) = conversation(monkeypatch, capsys, typed, "--max-new-tokens", "3", context=400)
    assert "more than the model's context of 400; this line is left out" in err and err.count(" 3 new") == 2
    assert "one<|im_end|>" in given[-1] and "two<|im_end|>" in given[-1] and "aaa" not in given[-1]
    assert "forgotten" not in err


def test_the_beginning_of_a_long_conversation_is_forgotten(monkeypatch, capsys):
    typed = ["first " + "a" * 100, "second " + "b" * 100, "third " + "c" * 100]
    given, (_, err) = conversation(monkeypatch, capsys, typed, "--max-new-tokens", "3", context=450)
    assert err.count(" 3 new") == 3
    assert err.count("[the beginning of this conversation no longer fits and is forgotten]") == 1
    assert "first" in given[1] and "second" in given[1]
    assert "first" not in given[2] and "second" in given[2] and "third" in given[2]
    assert given[2].startswith("<|im_start|>system\n")


@pytest.mark.usefixtures("smollm2")
def test_smollm2_knows_the_capital_of_france():
    rows = run("The capital of France is", "--top", 3).stdout.splitlines()
    assert [row.split(maxsplit=1)[1].split(maxsplit=1) for row in rows] == [
        ["7042", "' Paris'"],
        ["260", "' the'"],
        ["4528", "' London'"],
    ]


@pytest.mark.usefixtures("smollm2")
def test_a_chat_about_the_prompt():
    result = run("--chat", "What is the capital of France?", "--temperature", 0)
    assert result.returncode == 0 and result.stdout == "The capital of France is Paris.\n"


@pytest.mark.usefixtures("smollm2")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8:surrogateescape"])
def test_what_is_typed_but_no_text(encoding):
    result = subprocess.run(
        [*COMMAND, "--chat"],
        input=b"hi\xff\n",
        capture_output=True,
        env=environment(PYTHONIOENCODING=encoding),
    )
    assert (
        result.returncode == 2
        and b"Traceback" not in result.stderr
        and result.stderr.startswith(b"plainformer: ")
    )


@pytest.mark.usefixtures("smollm2")
def test_a_conversation():
    typed = "What is the capital of France?\n\nAnd of Italy?\n"
    result = run("--chat", "--temperature", 0, "--max-new-tokens", 12, typed=typed)
    assert result.returncode == 0
    first, second, end = (
        result.stdout.split("> ")[1],
        result.stdout.split("> ")[3],
        result.stdout.split("> ")[-1],
    )
    assert first == "The capital of France is Paris.\n" and "Rome" in second and end == "\n"
