"""Worked numbers: every number of the three documents, computed by a cell of the book and compared.

>>> worked("A3", products=[2, -2, 0.5, 0], total=0.5)

raises AssertionError if a computed value is not what the ledger expects, and shows a card: what the document
gives, what the cell computed, the verdict and why.
"""

from .card import Card
from .compare import matched
from .ledger import Ledger, LedgerError, load

__all__ = ["Card", "Ledger", "LedgerError", "load", "worked"]

_NOTHING = object()


def worked(entry, value=_NOTHING, /, **parts):
    """Check computed values against the ledger and return the card to show.

    entry: an id such as "C20". value: the value of the entry's part without a name. parts: the values of
    named parts. A value is a number, an array or tensor, a bool for a claim, a shape (tuple), text, or a list
    of these. An entry marked exact must be met exactly; else half a unit of the last printed digit is
    allowed.
    """
    entry = load()[entry]
    given = parts if value is _NOTHING else {"": value} | parts
    if not given:
        raise ValueError(f"{entry.id}: no value given. {entry.usage()}")
    chosen = [entry.part(name) for name in given]
    if len({part.chapter for part in chosen}) > 1:
        raise ValueError(f"{entry.id}: the parts of one call must belong to one chapter. {entry.usage()}")
    computed = []
    for part, value in zip(chosen, given.values(), strict=True):
        try:
            computed.append(matched(value, part, entry.verdict == "exact" and not part.rounded))
        except AssertionError as error:
            named = f", part {part.name}" if part.name else ""
            raise AssertionError(f"{entry.id}{named} ({part.label}): {error}") from None
    return Card(entry, chosen, computed)
