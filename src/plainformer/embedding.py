"""From token ids to rows."""

from array_api_compat import device

from plainformer.engines import array_namespace
from plainformer.shapes import shaped


@shaped("(..., T), (V, E) -> (..., T, E)")
def embed(ids, table):
    """Look up the row of each token id: ids are whole numbers from 0 to V - 1. Raises ValueError for any
    other.
    """
    return table[known_ids("embed", ids, table.shape[0], table)]


def known_ids(function, ids, vocabulary, like):
    """The ids as an array of the engine of ``like``; ValueError unless all are from 0 to V - 1."""
    xp = array_namespace(like)
    ids = xp.asarray(ids, dtype=xp.int64, device=device(like))  # PyTorch takes bytes for a mask
    if bool(xp.any((ids < 0) | (ids >= vocabulary))):
        got = f"{int(xp.min(ids))} to {int(xp.max(ids))}"
        raise ValueError(f"{function}: ids must be from 0 to {vocabulary - 1}, got {got}")
    return ids
