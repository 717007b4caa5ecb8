import numpy as np
import pytest
import torch
from shape_calls import ENGINES, convert, to_numpy

from plainformer.embedding import embed

on_both_engines = pytest.mark.parametrize("engine", ENGINES)
TABLE = np.arange(12.0).reshape(4, 3)


@on_both_engines
@pytest.mark.parametrize("ids", [[0, 3, 3], [[1, 2], [2, 0]], (1,)])
def test_each_id_gets_its_row(engine, ids):
    np.testing.assert_array_equal(to_numpy(embed(ids, convert(TABLE, engine))), TABLE[np.array(ids)])


@on_both_engines
@pytest.mark.parametrize("empty", [[], (), np.zeros((0,), dtype=int)])
def test_no_ids_give_no_rows(engine, empty):
    assert tuple(embed(empty, convert(TABLE, engine)).shape) == (0, 3)


@on_both_engines
@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int32, np.int64])
def test_every_kind_of_whole_number(engine, kind):
    # PyTorch would take bytes for a mask.
    ids = np.array([2, 1, 1, 0], dtype=kind)
    for given in (ids, convert(ids, engine)):
        np.testing.assert_array_equal(to_numpy(embed(given, convert(TABLE, engine))), TABLE[[2, 1, 1, 0]])


@on_both_engines
@pytest.mark.parametrize(
    "ids, got", [([-1], "-1 to -1"), ([4], "4 to 4"), ([0, -1, 2], "-1 to 2"), ([[0], [4]], "0 to 4")]
)
def test_an_id_out_of_range_is_refused(engine, ids, got):
    with pytest.raises(ValueError, match=f"embed: ids must be from 0 to 3, got {got}"):
        embed(ids, convert(TABLE, engine))


@pytest.mark.parametrize("ids", [[0.0, 1.0], np.array([True, False, True, True]), np.array([1.0])])
def test_ids_are_whole_numbers(ids):
    with pytest.raises(TypeError, match="embed: ids must be whole numbers, got"):
        embed(ids, TABLE)


@pytest.mark.parametrize(
    "ids",
    [
        np.array([3, 1, 2])[::-1],
        np.array([2, 1, 3], dtype=">i8"),
        np.broadcast_to(np.array(2), 3),
        np.array([2, 1, 3], dtype=np.uint8),
    ],
    ids=["reversed", "big-endian", "broadcast", "bytes"],
)
@pytest.mark.filterwarnings("error")
def test_ids_of_any_layout_serve_tensors(ids):
    table = torch.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(embed(ids, table).numpy(), table.numpy()[ids.astype(int)])
