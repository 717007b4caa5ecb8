"""A small language to train on: subject, object, adverbs, verb, in the order of "cat fish quietly eats".

A sentence is drawn word by word. Its subject is one of six animals, its object one of four things; then, up
to twice, a coin decides whether an adverb follows, one of four; last comes the verb. The verb agrees with the
subject's number and with the object's kind, so both have to be found again, one to four places back. A full
stop ends the sentence and fills its row.
"""

import itertools
import math
from collections import defaultdict

import numpy as np

from plainformer.settings import generator, token_ids, whole

START, STOP = "<start>", "."
SINGULAR, PLURAL = ("cat", "dog", "bird"), ("cats", "dogs", "birds")
FOOD, DRINK = ("fish", "seeds"), ("milk", "water")
ADVERBS = ("quietly", "quickly", "slowly", "today")
VERBS = ("eats", "eat", "drinks", "drink")
WORDS = (START, STOP, *SINGULAR, *PLURAL, *FOOD, *DRINK, *ADVERBS, *VERBS)  # a word's id is its place here
MOST_ADVERBS = 2
LENGTH = 5 + MOST_ADVERBS  # start, subject, object, adverbs, verb, full stop


def verb(subject, thing):
    """The one verb that agrees with a subject and an object."""
    return VERBS[2 * (thing in DRINK) + (subject in PLURAL)]


def row(subject, thing, adverbs):
    """A sentence as a row of ``LENGTH`` words."""
    words = [START, subject, thing, *adverbs, verb(subject, thing)]
    return (*words, *[STOP] * (LENGTH - len(words)))


def sentences():
    """Every row of the language and its probability: a dictionary of all 504."""
    found = {}
    for subject, thing in itertools.product(SINGULAR + PLURAL, FOOD + DRINK):
        for count in range(MOST_ADVERBS + 1):
            coins = 0.5 ** min(count + 1, MOST_ADVERBS)  # after the last adverb none is tossed
            for adverbs in itertools.product(ADVERBS, repeat=count):
                found[row(subject, thing, adverbs)] = coins / (6 * 4 * 4**count)
    return found


def table():
    """The whole language: ids, (504, LENGTH), and the probability of each row, (504)."""
    rows, probabilities = zip(*sentences().items())
    return np.array([[WORDS.index(word) for word in words] for words in rows]), np.array(probabilities)


def sample(rng, count):
    """Draw ``count`` sentences, as ids in an array of (count, LENGTH). ``rng`` is a
    ``numpy.random.Generator``.
    """
    generator("sample", "rng", rng)
    count = whole("sample", "count", count)
    ids, probabilities = table()
    return ids[rng.choice(len(ids), size=count, p=probabilities)]


def batches(rng, count):
    """Batches of ``count`` sentences without end."""
    while True:
        yield sample(rng, count)


def encode(text):
    """The ids of the words of a text. ValueError for a word that the language does not have."""
    if not isinstance(text, str):
        raise TypeError(f"encode: text must be a str, got {type(text).__name__}")
    unknown = [word for word in text.split() if word not in WORDS]
    if unknown:
        raise ValueError(f"encode: text holds {unknown[0]!r}, which is not a word of the language")
    return np.array([WORDS.index(word) for word in text.split()], dtype=int)


def decode(ids):
    """The words of a list of ids, with spaces, up to the first full stop. ValueError for an id that is no
    word's.
    """
    words = [WORDS[token] for token in token_ids("decode", "ids", ids, len(WORDS))]
    return " ".join(words[: words.index(STOP) + 1] if STOP in words else words)


def surprise(context):
    """The mean entropy of the next word, in nats, for one who knows only ``context(words)`` of the words
    before it.
    """
    joint = defaultdict(float)
    for words, probability in sentences().items():
        for t in range(1, LENGTH):
            joint[context(words[:t]), words[t]] += probability
    seen = defaultdict(float)
    for (known, _), probability in joint.items():
        seen[known] += probability
    return sum(p * math.log(seen[known] / p) for (known, _), p in joint.items()) / (LENGTH - 1)


def floor():
    """The entropy of the next word given all words before: no model's mean loss can be lower."""
    return surprise(lambda before: before)


def floor_without_context():
    """The same for a model that sees only the word before and its position, as a Transformer without
    attention does.
    """
    return surprise(lambda before: (len(before), before[-1]))
