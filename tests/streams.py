"""Pairs written to Parquet, to be streamed."""

import pyarrow
from pyarrow import parquet

from confdiff.pairs import StreamedPairs


def write(path, pairs, row_group_size=100, **columns):
    """Write pairs to a Parquet file; columns can be added or replaced."""
    table = {"left": pairs.left.numpy(), "right": pairs.right.numpy(), "difference": pairs.difference.numpy()}
    if pairs.weight is not None:
        table["weight"] = pairs.weight.numpy()
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(pyarrow.table(table | columns), path, row_group_size=row_group_size)
    return path


def streamed(folder, pairs, row_group_size=100, window=300, **options):
    """The pairs as a stream over the same items, from one file in the folder."""
    path = write(folder / "pairs.parquet", pairs, row_group_size)
    return StreamedPairs(pairs.items, path, window=window, **options)


def table_of(pairs):
    """The rows of pairs, for comparisons: (left, right, difference)."""
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), pairs.difference.tolist(), strict=True))
