"""From token ids to rows."""
from array_api_compat import array_namespace, device

from plainformer.shapes import shaped


@shaped("(..., T), (V, E) -> (..., T, E)")
def embed(ids, table):
    """Look up the row of each token id: ids are whole numbers from 0 to V - 1. Raises ValueError for any other."""
    xp = array_namespace(table)
    ids = xp.asarray(ids, device=device(table))
    if bool(xp.any((ids < 0) | (ids >= table.shape[0]))):
        raise ValueError(f"embed: ids must be from 0 to {table.shape[0] - 1}, got {int(xp.min(ids))} to {int(xp.max(ids))}")
    return table[ids]
