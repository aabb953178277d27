"""Read and write tables in batches of rows, for tables that do not fit into memory."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from confdiff.io.atomic import atomic_file
from confdiff.io.table_formats.registry import find_table_format
from confdiff.io.tables import check_distinct_names, check_table_file, table_errors
from confdiff.io.vectors import as_vectors, check_not_nested

RowBatch = TypeVar("RowBatch")

BATCH_ROWS = 65_536
"""The rows of a batch by default."""


def read_batches(path: Path, columns: Iterable[str], rows: int = BATCH_ROWS) -> Iterator[Any]:
    """Yield some columns of a table, as written, as batches of pyarrow; types may differ between batches.

    Parameters
    ----------
    path : Path
        The table.
    columns : iterable of str
        The columns to read.
    rows : int
        The number of rows in a batch, at most.
    """
    table_format = check_table_file(path)
    names = list(columns)
    start = table_format.first_row
    with table_errors(path, names):
        for batch in table_format.read_batches(path, names, rows):
            yield _with_vectors(path, batch, start)
            start += batch.num_rows


def read_ahead(batches: Iterator[RowBatch]) -> Iterator[RowBatch]:
    """Yield the batches of an iterator, and read the next one in a thread while the caller works on this one.

    Examples
    --------
    >>> list(read_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    context = copy_context()  # such as the encoding of text files

    def read_next() -> list[RowBatch]:
        return context.run(lambda: list(islice(batches, 1)))

    with ThreadPoolExecutor(1, "confdiff-reading") as reader:
        upcoming = reader.submit(read_next)
        while batch := upcoming.result():
            upcoming = reader.submit(read_next)
            yield from batch


def _with_vectors(path: Path, batch: Any, start: int) -> Any:
    """Return a batch with its columns of lists as vectors, see :mod:`confdiff.io.vectors`."""
    for index, name in enumerate(batch.schema.names):
        check_not_nested(f"{path}, ", name, batch.column(index), start)
        column = as_vectors(batch.column(index))
        if column is not batch.column(index):
            batch = batch.set_column(index, name, column)
    return batch


def read_column_names(path: Path) -> list[str]:
    """Return the names of the columns of a table without reading all of it."""
    table_format = check_table_file(path)
    with table_errors(path):
        names = table_format.read_column_names(path)
    check_distinct_names(path, names)
    return names


def count_rows(path: Path) -> int | None:
    """Return the number of rows of a table if the file records it (Parquet), otherwise None."""
    table_format = check_table_file(path)
    with table_errors(path):
        return table_format.count_rows(path)


@contextmanager
def writing_batches(path: Path, *, escape: bool = True) -> Iterator[Callable[[Any], None]]:
    """Yield a function that appends a pyarrow batch to a table; the file is written if the block succeeds.

    The first batch determines the columns. ``escape`` is that of :func:`~confdiff.io.tables.write_table`.
    """
    table_format = find_table_format(path)
    with atomic_file(path) as temporary, ExitStack() as stack:
        append: Callable[[Any], None] | None = None

        def write(batch: Any) -> None:
            nonlocal append
            if append is None:
                append = stack.enter_context(table_format.open_writer(temporary, batch.schema, escape=escape))
            append(batch)

        yield write
