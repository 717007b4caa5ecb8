"""Writing: run the model, draw a token, and go on from there."""

import numpy as np

from plainformer.sampling import drop, probabilities, sample
from plainformer.settings import callback, generator, token_ids, whole


def generate(
    forward, model, prompt, max_new_tokens, rng, temperature=1.0, top_k=None, top_p=None, stop=(), never=()
):
    """Yield up to ``max_new_tokens`` token ids that continue ``prompt``, one as soon as it is drawn.

    ``forward`` is that of the model's module. ``prompt`` is a list of token ids. It ends early after an id in
    ``stop``, which is yielded too; an id in ``never`` is not drawn. Settings as in ``sampling.sample``.
    Raises ValueError at once, before the model runs, for an empty prompt, an unknown id, more tokens in all
    than the model's context, and a wrong setting.
    """
    callback("generate", "forward", forward)
    vocabulary = model.embedding.shape[0]
    prompt = token_ids("generate", "prompt", prompt, vocabulary)
    stop = frozenset(token_ids("generate", "stop", stop))
    never = token_ids("generate", "never", never, vocabulary)
    count = room("generate", prompt, max_new_tokens, model.config.context)
    generator("generate", "rng", rng)
    probabilities(np.zeros(2), temperature, top_k, top_p)  # a wrong setting is refused here
    return tokens(forward, model, prompt, count, rng, (temperature, top_k, top_p), stop, never)


def room(function, prompt, max_new_tokens, context):
    """How many tokens may follow; ValueError if prompt and new tokens do not fit into the context."""
    count = whole(function, "max_new_tokens", max_new_tokens, 0)
    if not prompt:
        raise ValueError(f"{function}: prompt must hold at least one token")
    total = len(prompt) + count
    if total > context:
        facts = f"prompt and new tokens are {total}, more than the model's context of {context}"
        raise ValueError(f"{function}: {facts}")
    return count


def tokens(forward, model, prompt, count, rng, settings, stop, never):
    """The loop of ``generate``: the prompt goes in once, then one token a step; the cache remembers the
    rest.
    """
    ids, cache = np.array(prompt), None
    for _ in range(count):
        logits, cache = forward(ids, model, cache, last=True)
        row = logits[-1].detach().cpu().double().numpy() if hasattr(logits, "detach") else logits[-1]
        token = sample(drop(row, never) if never else row, rng, *settings)
        yield token
        if token in stop:
            return
        ids = np.array([token])
