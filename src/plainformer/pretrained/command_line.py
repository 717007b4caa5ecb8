"""The command line: ``python -m plainformer "Data visualization empowers users to"`` lets a real model write
on.
"""

import argparse
import functools
import os
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from plainformer import gpt2, llama
from plainformer.generation import generate
from plainformer.sampling import drop, probabilities
from plainformer.settings import whole

FORWARD = {gpt2.GPT2: gpt2.forward, llama.Llama: llama.forward}
USUAL = 100  # tokens, the length of a text if nothing is said of it
show = functools.partial(print, end="", flush=True)  # writes a piece of text at once


class Writer(NamedTuple):
    """A model, and what it takes to let it write."""

    model: Any
    tokenizer: Any
    rng: np.random.Generator
    options: argparse.Namespace


def main(arguments=None):
    """Run the command; return its exit status: 0, 1 if the output was closed, 2 for an error, 130 for
    Ctrl-C.
    """
    options = read_options(arguments)
    try:
        run(options)
        return 0
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        return 1
    except ModuleNotFoundError as error:
        wrong = (
            f'the library {error.name} is missing; in the folder of the course: pip install -e ".[models]"'
        )
    except (OSError, ValueError) as error:
        wrong = error
    print(f"plainformer: {wrong}", file=sys.stderr)
    return 2


def read_options(arguments):
    """The options. Ends the program with status 2 if they are wrong, before a model is loaded."""
    parser = option_parser()
    options = parser.parse_args(arguments)
    if options.prompt is None and not options.chat:
        parser.error('a prompt is missing, for instance "Data visualization empowers users to"')
    if options.chat and (options.model or options.top):
        parser.error("--chat goes with SmolLM2, without --model and --top")
    for name, check in CHECKS.items():
        try:
            check(name, getattr(options, name))
        except ValueError as error:
            parser.error(f"argument --{name.replace('_', '-')}: {str(error).partition(': ')[2]}")
    return options


def option_parser():
    """What the command line takes."""
    parser = argparse.ArgumentParser(
        "python -m plainformer", description="Let a language model continue a text."
    )
    add = parser.add_argument
    add("prompt", nargs="?", type=text, help="the text to continue; with --chat, what you say")
    add("--chat", action="store_true", help="talk to SmolLM2: about the prompt, or line by line without one")
    add("--top", type=integer, metavar="N", help="show the N likeliest next tokens instead of writing on")
    most = f"write so many tokens at most ({USUAL}, or as many as fit)"
    add("--max-new-tokens", type=integer, metavar="N", help=most)
    add("--temperature", type=float, default=1.0, help="below 1 fewer surprises, 0 none (%(default)s)")
    add("--top-k", type=integer, metavar="K", help="draw from the K likeliest tokens only")
    add("--top-p", type=float, metavar="P", help="draw from the likeliest tokens that together reach P")
    add("--seed", type=integer, metavar="N", help="the same number gives the same text again")
    folder = "a Hugging Face folder with a GPT-2 or a Llama, instead of SmolLM2"
    add("--model", type=text, metavar="FOLDER", help=folder)
    return parser


def text(value):
    """An argument as a text that is not empty and can be cut into tokens."""
    if not value:
        raise argparse.ArgumentTypeError("it is empty")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("it is not UTF-8") from error
    return value


def integer(value):
    """An argument as an int."""
    try:
        return int(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {value}") from None


def whole_or_none(name, value, least=1):
    """Check a whole number that may be left out."""
    if value is not None:
        whole("", name, value, least)


def setting(name, value):
    """Check what ``probabilities`` is to be told."""
    probabilities(np.zeros(2), **{name: value})


CHECKS = {
    "top": whole_or_none,
    "max_new_tokens": whole_or_none,
    "seed": functools.partial(whole_or_none, least=0),
    "temperature": setting,
    "top_k": setting,
    "top_p": setting,
}


def run(options):
    """Do what the options say. Raises ValueError or OSError with a sentence for the user."""
    from plainformer.pretrained import huggingface, smollm2  # they need more libraries than the options do

    model, tokenizer = huggingface.load(options.model) if options.model else smollm2.load()
    if tokenizer is None:
        raise ValueError(f"{options.model} has no tokenizer.json")
    writer = Writer(model, tokenizer, np.random.default_rng(options.seed), options)
    if options.top:
        show_next(writer)
    elif options.chat:
        converse(writer, smollm2.chat_ids)
    else:
        write_on(writer, tokenizer.encode(options.prompt), before=options.prompt)


def write_on(writer, ids, before=""):
    """Show how the model continues ids, token by token, and on stderr how fast; return the new text.

    The text ``before`` is shown first, once it is known that the ids are no error.
    """
    model, tokenizer, rng, options = writer
    most = options.max_new_tokens or min(USUAL, max(1, model.config.context - len(ids)))
    drawn = options.temperature, options.top_k, options.top_p, tokenizer.stop, unknown(writer)
    tokens = generate(FORWARD[type(model)], model, ids, most, rng, *drawn)
    show(before)
    times, pieces = [time.perf_counter()], []
    for piece in tokenizer.stream(clocked(tokens, times, tokenizer.stop), after=ids):
        pieces.append(piece)
        show(piece)
    show("\n")
    first, rest, new = times[1] - times[0], times[-1] - times[1], len(times) - 1
    speed = f", then {(new - 1) / rest:.1f} tokens/s" if new > 1 else ""
    print(f"[{len(ids)} tokens read in {first:.2f} s{speed}; {new} new]", file=sys.stderr)
    return "".join(pieces)


def clocked(tokens, times, stop):
    """Pass on the tokens before one in ``stop``; note the time at which each came."""
    for token in tokens:
        times.append(time.perf_counter())
        if token not in stop:
            yield token


def unknown(writer):
    """The ids for which the model has a row and the tokenizer no token."""
    return writer.tokenizer.unknown(writer.model.embedding.shape[0])


def show_next(writer):
    """Show the likeliest of the tokens that temperature, top-k and top-p leave, with their probabilities."""
    model, tokenizer, _, options = writer
    logits, _ = FORWARD[type(model)](tokenizer.encode(options.prompt), model, last=True)
    logits = drop(np.asarray(logits)[-1], unknown(writer))
    shares = probabilities(logits, options.temperature, options.top_k, options.top_p)
    for token in np.argsort(-shares, kind="stable")[: min(options.top, np.count_nonzero(shares))]:
        show(f"{shares[token]:8.4f}  {token:6d}  {tokenizer.decode([token])!r}\n")


def converse(writer, chat_ids):
    """Answer the prompt; without one, answer line after line until the input ends."""
    if writer.options.prompt:
        write_on(writer, chat_ids([("user", writer.options.prompt)], writer.tokenizer))
        return
    said = []
    for line in lines():
        turns, ids = fitting(writer, chat_ids, [*said, ("user", line)])
        try:
            answer = write_on(writer, ids)
        except ValueError as error:
            print(f"plainformer: {error}; this line is left out", file=sys.stderr)
            continue
        if len(turns) <= len(said):
            print("[the beginning of this conversation no longer fits and is forgotten]", file=sys.stderr)
        said = [*turns, ("assistant", answer)]


def fitting(writer, chat_ids, said):
    """The end of a conversation that leaves room for an answer, and its ids: the oldest turns are forgotten,
    the last is not.
    """
    context, answer = writer.model.config.context, writer.options.max_new_tokens or USUAL
    ids = chat_ids(said, writer.tokenizer)
    while len(ids) + answer > context and len(said) > 1:
        said = said[2:]
        ids = chat_ids(said, writer.tokenizer)
    return said, ids


def lines():
    """What the user types, line by line; empty lines are left out."""
    while True:
        try:
            line = input("> ")
        except EOFError:
            show("\n")
            return
        if line.strip():
            yield line
