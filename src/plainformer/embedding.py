"""From token ids to rows."""

import numpy as np
from array_api_compat import device

from plainformer.engines import array_namespace
from plainformer.shapes import shaped


@shaped("(..., T), (V, E) -> (..., T, E)")
def embed(ids, table):
    """Look up the row of each token id, a whole number from 0 to V - 1; ValueError for any other."""
    return table[known_ids("embed", ids, table.shape[0], table)]


def known_ids(function, ids, vocabulary, like):
    """The ids as an array of the engine of ``like``; ValueError unless all are from 0 to V - 1."""
    xp = array_namespace(like)
    if isinstance(ids, np.ndarray):
        ids = np.array(
            ids, dtype=np.int64
        )  # PyTorch takes no view that is reversed, broadcast or of other bytes
    ids = xp.asarray(ids, dtype=xp.int64, device=device(like))
    if bool(xp.any((ids < 0) | (ids >= vocabulary))):
        got = f"{int(xp.min(ids))} to {int(xp.max(ids))}"
        raise ValueError(f"{function}: ids must be from 0 to {vocabulary - 1}, got {got}")
    return ids
