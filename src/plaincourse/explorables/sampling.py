"""From logits to a word."""

import numpy as np
import traitlets

from plaincourse import data
from plaincourse.explorables import still
from plaincourse.explorables.base import Explorable, Numbers, Whole
from plaincourse.numerals import short
from plainformer.sampling import probabilities


class Sampling(Explorable):
    """See a distribution over words change with temperature, top-k and top-p, and draw from it.

    words, logits: the twelve likeliest words. others: how many more words there are, up to a million.
    log_sum_exp: pairs of a temperature and the logarithm of the sum of exp(logit / temperature) over all
    words; from it comes the share of everything else. temperature: 0 to 2; without top-k it must be 0 or one
    of those in log_sum_exp, since only there is that share known. top_k: 1 to 12, or None for off. top_p:
    0.05 to 1, or None for off. seed: of the draws. prompt: the words before.
    """

    module = "sampling"
    prompt = traitlets.Unicode("Data visualization empowers users to").tag(sync=True)
    words = traitlets.List(traitlets.Unicode(), list(data.NEXT_WORDS), minlen=12, maxlen=12).tag(sync=True)
    logits = Numbers(list(data.NEXT_LOGITS), shape=(12,), low=-1000, high=1000)
    others = Whole(data.VOCABULARY - len(data.NEXT_WORDS), min=1, max=1_000_000).tag(sync=True)
    log_sum_exp = Numbers(
        [list(pair) for pair in data.LOG_SUM_EXP.items()], shape=(3, 2), low=-10_000, high=10_000
    )
    temperature = Numbers(0.8, shape=(), low=0, high=2)
    top_k = Whole(5, min=1, max=12, allow_none=True).tag(sync=True)
    top_p = Numbers(None, shape=(), low=0.05, high=1, allow_none=True)
    seed = Whole(1, min=0, max=2**32 - 1).tag(sync=True)

    @traitlets.validate("temperature", "top_k", "logits", "log_sum_exp")
    def _is_known(self, proposal):
        """Refuse settings under which the share of everything else is not known, or would be negative."""
        new = {name: getattr(self, name) for name in ("temperature", "top_k", "logits", "log_sum_exp")}
        new[proposal.trait.name] = proposal.value
        temperatures = [temperature for temperature, _ in new["log_sum_exp"]]
        for temperature, total in new["log_sum_exp"]:
            if temperatures.count(temperature) > 1:
                raise traitlets.TraitError(
                    f"Sampling: log_sum_exp must hold different temperatures, got {temperature} twice"
                )
            if temperature <= 0 or np.logaddexp.reduce(np.array(new["logits"]) / temperature) >= total:
                raise traitlets.TraitError(
                    "Sampling: log_sum_exp must hold temperatures above 0 and sums larger than the twelve"
                    f" logits' own, got {total} at temperature {temperature}"
                )
        known = [0.0, *temperatures]
        if new["top_k"] is None and new["temperature"] not in known:
            raise traitlets.TraitError(
                f"Sampling: temperature must be one of {known} without top_k, got {new['temperature']}"
            )
        return proposal.value

    def all_logits(self):
        """Return one logit for each word: the twelve, then one equal logit for every other word, so that the
        sum is right.
        """
        logits = np.array(self.logits)
        total = dict(self.log_sum_exp).get(self.temperature)
        if total is None:  # top-k or greedy: the other words have no part
            return logits
        rest = 1 - np.sum(np.exp(logits / self.temperature - total))
        other = self.temperature * (total + np.log(rest / self.others))
        return np.concatenate([logits, np.full(self.others, other)])

    def shares(self):
        """Return the probabilities of the twelve words and of everything else, shape (13,).

        None if top-p would need the single words of everything else.
        """
        logits = self.all_logits()
        if self.top_p is not None and self.top_k is None and self.temperature > 0:
            if np.sum(probabilities(logits, self.temperature)[:12]) < self.top_p - 1e-12:
                return None
        p = probabilities(logits, self.temperature, self.top_k, self.top_p)
        return np.append(p[:12], np.sum(p[12:]))

    def sentence(self):
        """Return the settings and the likeliest words, in words."""
        settings = (
            f"temperature {short(self.temperature)}, top-k {self.top_k or 'off'}, top-p {self.top_p or 'off'}"
        )
        shares = self.shares()
        if shares is None:
            return (
                f"At {settings}, top-p would need words beyond the twelve likeliest, which are not known one"
                " by one."
            )
        kept = [
            f"{word} {100 * share:.2f} %"
            for word, share in zip([*self.words, "everything else"], shares)
            if share > 0
        ]
        return f"At {settings}, the probabilities are: {', '.join(kept)}."

    def still(self):
        """Return the picture: a bar and a percentage for each word."""
        shares = self.shares()
        parts = []
        for i, word in enumerate([*self.words, "everything else"]):
            y = 20 + 22 * i
            parts.append(still.text(120, y, word, anchor="end"))
            if shares is not None:
                parts.append(still.box(130, y - 13, 400 * shares[i], 16, "probability"))
                parts.append(
                    still.text(620, y, f"{100 * shares[i]:.2f} %" if shares[i] else "cut", anchor="end")
                )
        return still.picture(640, 300, self.sentence(), *parts)
