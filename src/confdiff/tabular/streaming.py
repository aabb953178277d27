"""The data of a fit that need not fit into memory: items in a memory-mapped file, pairs as row numbers in Parquet."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.inputs import answers_of
from confdiff.io.atomic import naming_full_disk
from confdiff.io.batches import read_batches, read_column_names, writing_batches
from confdiff.io.column_types.deciding import NumberCount, type_of
from confdiff.io.column_types.lattice import ColumnType, join
from confdiff.io.table_formats.registry import find_table_format
from confdiff.io.temporary import temporary_folder
from confdiff.io.typed_table import TypedTable, id_values, joined_column
from confdiff.pairs import StreamedPairs
from confdiff.pairs.parquet import parquet_columns, parquet_files
from confdiff.pairs.splitting import draw_item_parts
from confdiff.prior import SameAnswers
from confdiff.tabular.answering import NOT_NAMED
from confdiff.tabular.comparisons import Comparisons, compare, known_scale
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.features.kinds import check_not_numbers
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.id_candidates import IdValues, columns_of_file
from confdiff.tabular.id_columns import find_id_columns
from confdiff.tabular.model.about import DataSummary
from confdiff.tabular.roles import check_column
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.scales import PLAIN_SCALE, Scale
from confdiff.tabular.tables import ItemTable, PairTable, as_judged, id_type
from confdiff.tabular.training_data import PairSets
from confdiff.tabular.values import check_ids

STREAM = "stream"
"""Name after which the folder of encoded data is named, see :mod:`confdiff.io.temporary`."""
_ENCODER_ITEMS = 200_000  # encoders are fitted to the first items of the file
_HELD_OUT_PAIRS = 100_000  # maximum size of the validation set and of the test set
_GROUP_ROWS = 250_000  # pairs in a row group
_BATCH_ITEMS = 65_536
_STREAMED_WORDS = 2_000  # default maximum per text column; encoded items are dense, and on disk
_DISTINCT_VALUES = 1_000  # no scale that is recognised by its points has as many


@dataclass(frozen=True, eq=False)
class StreamedData:
    """Items and pairs on disk.

    Attributes
    ----------
    features
        The fitted encoding of the items.
    pairs
        The pairs, with the encoded items.
    scale
        The scale of the judgements.
    id_name, id_type
        The column of ids, and the type of its values.
    annotators
        Number of annotators, or None.
    labelled
        None: labels are not supported.
    """

    features: ItemFeatures
    pairs: StreamedPairs
    scale: Scale
    id_name: str
    id_type: str
    annotators: int | None = None
    labelled: None = None

    @property
    def answers(self) -> SameAnswers | None:
        """A sample of the answers whether two encoded items are of the same class."""
        return answers_of(self.pairs)

    def summary(self) -> DataSummary:
        """Return sizes and columns; all items count as compared."""
        count, width = self.pairs.items.shape
        has_differences = self.pairs.has("differences")
        return DataSummary(
            items=count,
            compared_items=count,
            pairs=len(self.pairs),
            columns=self.features.kinds_,
            features=width,
            scale=self.scale.name if has_differences else "same-class answers",
            answers_only=not has_differences,
            scale_option=self.scale.option,
            weighted=self.pairs.weighted,
            annotators=self.annotators,
            id_name=self.id_name,
            id_type=self.id_type,
            streamed=True,
        )

    def split(self, options: FitOptions) -> PairSets:
        """Divide the pairs into a training set and samples for validation and testing."""
        if not options.validation_fraction:
            return PairSets(train=self.pairs)
        part = draw_item_parts(len(self.pairs.items), options.validation_fraction, options.seed)
        train = self.pairs.without(part > 0)
        has_differences = self.pairs.has("differences")
        judged = self.pairs.carrying("differences" if has_differences else "same")
        not_test = judged.without(part == 2)
        validation = not_test.sample(_HELD_OUT_PAIRS, options.seed, touching=part == 1)
        test = judged.sample(_HELD_OUT_PAIRS, options.seed, touching=part == 2)
        if has_differences:
            return PairSets(train=train, validation=validation.with_same(None), test=test.with_same(None))
        return PairSets(train=train, validation=validation.without_differences(), test=test.without_differences())

    def item_batches(self) -> Iterator[NDArray[np.float32]]:
        """Yield the features of all items, 65,536 at a time."""
        items = self.pairs.items.numpy()
        for start in range(0, len(items), _BATCH_ITEMS):
            yield items[start : start + _BATCH_ITEMS]


@contextmanager
def streamed_data(
    items: Path,
    pairs: Path,
    options: FitOptions,
    *,
    work: Path,
    id: str | None = None,
    ignore: tuple[str, ...] = (),
    scale: Scale | None = None,
    columns: Mapping[str, str | None] | None = None,
    encoders: Mapping[str, Any] | None = None,
) -> Iterator[StreamedData]:
    """Encode items and pairs into files for the time of a fit.

    Parameters
    ----------
    items : Path
        A table of items.
    pairs : Path
        A Parquet file of pairs, or a folder of such files.
    options : FitOptions
        Options of the encoding.
    work : Path
        A folder in which the encoded items and pairs are kept, in a new folder that is removed at the end.
    id, ignore, scale, columns, encoders
        As in :func:`~confdiff.fit_comparisons`; ``columns`` maps roles to names.
    """
    work.mkdir(parents=True, exist_ok=True)
    with naming_full_disk(work), temporary_folder(work / STREAM) as folder:
        names, id_name, roles = _find_columns(items, pairs, id, ignore, columns or {})
        features, ids = _encode_items(items, folder / "items.npy", options, names, id_name, encoders)
        scale = scale or _find_scale(pairs, roles)
        annotators = _encode_pairs(pairs, folder / "pairs.parquet", ids, scale, roles)
        stream = _encoded_stream(folder / "items.npy", folder / "pairs.parquet", annotators)
        yield StreamedData(
            features=features,
            pairs=stream,
            scale=scale,
            id_name=id_name,
            id_type=id_type(ids),
            annotators=len(annotators) or None,
        )


def _find_columns(
    items: Path, pairs: Path, id: str | None, ignore: tuple[str, ...], columns: Mapping[str, str | None]
) -> tuple[list[str], str, dict[str, str | None]]:
    """Return the features and the column of ids of the items, and the columns of the pairs by role.

    The ids of the first pairs decide, as many as are in a row group.
    """
    source = TableSource.of_file(items)
    for column in ignore:
        check_column(source, read_column_names(items), column, "ignore")
    candidates = columns_of_file(items, ignore)
    sample = next(_pair_batches(pairs), None)
    if sample is None:
        raise ValueError(f"{pairs} must have at least one row of data; got none.")
    found = find_id_columns(candidates, IdValues(sample[1]), pairs_source=sample[0], id=id, chosen=columns)
    return [name for name in candidates.names if name != found.id], found.id, found.with_roles(columns)


def _encode_items(
    path: Path,
    output: Path,
    options: FitOptions,
    names: list[str],
    id_name: str,
    encoders: Mapping[str, Any] | None,
) -> tuple[ItemFeatures, NDArray[Any]]:
    """Write the features of all items as a NumPy file, and return the fitted encoders and the ids."""
    types = _column_types(path, [id_name, *names], options)
    features = ItemFeatures(
        kinds=options.kinds,
        max_features=_STREAMED_WORDS if options.max_features is None else options.max_features,
        sparse_output=False,
        text_encoder=options.text_encoder,
        encoders=encoders,
    )
    features.fit(_first_items(path, names, id_name, types))
    ids: list[NDArray[Any]] = []
    raw = output.with_suffix(".raw")
    with raw.open("wb") as file:
        for table in _item_tables(path, names, id_name, types):
            file.write(np.ascontiguousarray(features.encode(table)).data)
            ids.append(table.ids)
    shape = (sum(map(len, ids)), features.width)
    _write_numpy_file(output, raw, shape)
    return features, check_ids(TableSource.of_file(path), np.concatenate(ids))


def _write_numpy_file(output: Path, raw: Path, shape: tuple[int, int]) -> None:
    """Move raw 32-bit floats to a NumPy file, by writes: on a full disk, writing through a map kills the process."""
    header = {"descr": np.lib.format.dtype_to_descr(np.dtype(np.float32)), "fortran_order": False, "shape": shape}
    with output.open("wb") as file, raw.open("rb") as source:
        np.lib.format.write_array_header_1_0(file, header)
        shutil.copyfileobj(source, file, 2**20)
    raw.unlink()


def _column_types(path: Path, names: list[str], options: FitOptions) -> dict[str, ColumnType]:
    """Return the types of columns, which the whole file determines."""
    parse_text = find_table_format(path).parse_text
    types: dict[str, ColumnType] = dict.fromkeys(names, "empty")
    counts = dict.fromkeys(names[1:], NumberCount())
    start = 0
    for batch in read_batches(path, names):
        for name in names:
            part_type = type_of(batch.column(name), parse_text)
            types[name] = join(types[name], part_type)
            if name in counts:
                counts[name] = counts[name].then(NumberCount.of(batch.column(name), part_type), start)
        start += batch.num_rows
    for name, count in counts.items():
        if types[name] == "text" and name not in (options.kinds or {}):
            check_not_numbers(name, count, TableSource.of_file(path))
    return types


def _item_tables(path: Path, names: list[str], id_name: str, types: dict[str, ColumnType]) -> Iterator[ItemTable]:
    start = 0
    for batch in read_batches(path, [id_name, *names]):
        yield ItemTable(
            source=TableSource.of_file(path, start),
            ids=id_values(batch.column(id_name), types[id_name]),
            columns={name: batch.column(name) for name in names},
            types=types,
        )
        start += batch.num_rows


def _first_items(path: Path, names: list[str], id_name: str, types: dict[str, ColumnType]) -> ItemTable:
    """Return the first items of a file, as many as encoders are learned from."""
    parts: list[ItemTable] = []
    for table in _item_tables(path, names, id_name, types):
        parts.append(table)
        if sum(map(len, parts)) >= _ENCODER_ITEMS:
            break
    if not parts:
        raise ValueError(f"{path} must have at least one row of data; got none.")
    columns = {name: joined_column([part.columns[name] for part in parts], types[name]) for name in names}
    ids = np.concatenate([part.ids for part in parts])
    return ItemTable(source=TableSource.of_file(path), ids=ids, columns=columns, id_name=id_name, types=types)


def _encoded_stream(items: Path, pairs: Path, annotators: tuple[str, ...]) -> StreamedPairs:
    """Return the encoded pairs, with annotators if there are any and if the pairs have differences."""
    columns = set(parquet_columns(pairs))
    has_annotators = bool(annotators) and "annotator" in columns
    return StreamedPairs(
        items,
        pairs,
        annotator="annotator" if has_annotators else None,
        annotator_names=annotators if has_annotators else None,
        side="side" if has_annotators and "side" in columns else None,
        window=min(2**20, 4 * _GROUP_ROWS),
    )


def _encode_pairs(
    pairs: Path, output: Path, ids: NDArray[Any], scale: Scale, columns: dict[str, str | None]
) -> tuple[str, ...]:
    """Write the pairs as row numbers of the items and differences in [-1, 1], and return the annotators' names."""
    import pyarrow

    items = ItemTable(source=TableSource("the items"), ids=ids, columns={})
    numbers: dict[str, int] = {}
    with writing_batches(output) as write:
        for judged in _judged_parts(pairs, columns, scale):
            compared = compare(items, judged, scale, is_part=True)
            arrays = _encoded_columns(judged, compared) | _encoded_judges(judged, compared, numbers)
            write(pyarrow.record_batch({name: pyarrow.array(array) for name, array in arrays.items()}))
    return () if set(numbers) <= {NOT_NAMED} else tuple(numbers)


def _encoded_judges(judged: PairTable, compared: Comparisons, numbers: dict[str, int]) -> dict[str, NDArray[Any]]:
    """Return the numbers of the annotators and the sides, in the order of :func:`_encoded_columns`.

    ``numbers`` has the number of each annotator so far, and gets those of new ones. Rows that were appended for
    same-class answers have no side.
    """
    if judged.annotator is None:
        return {}
    names = np.full(len(compared), NOT_NAMED, dtype=object) if compared.annotator is None else compared.annotator
    codes = np.array([numbers.setdefault(name, len(numbers)) for name in names.tolist()], dtype=np.int64)
    answers = compared.answers if compared.has_differences else None
    appended = np.zeros(0 if answers is None else len(answers), dtype=np.int8)
    encoded = {"annotator": np.concatenate([codes, appended])}
    if compared.side is not None:
        encoded["side"] = np.concatenate([compared.side, appended])
    return encoded


def _encoded_columns(judged: PairTable, compared: Comparisons) -> dict[str, NDArray[Any]]:
    """Return the columns of encoded pairs. A pair with a difference and an answer becomes two rows."""
    arrays: dict[str, NDArray[Any]] = {
        "left": compared.left,
        "right": compared.right,
        "difference": compared.difference,
    }
    if judged.same is None:
        return arrays if judged.weight is None else arrays | {"weight": judged.weight}
    answered = ~np.isnan(judged.same)
    has_difference = ~np.isnan(judged.difference)
    if judged.weight is not None:
        arrays["weight"] = judged.weight[has_difference if has_difference.any() else answered]
    arrays["same"] = np.full(len(compared), np.nan)
    answers = compared.answers
    if answers is None:
        return arrays
    if not compared.has_differences:
        return arrays | {"same": answers.same}
    appended = {
        "left": answers.left,
        "right": answers.right,
        "difference": np.full(len(answers), np.nan, dtype=np.float32),
        "same": answers.same,
    }
    if judged.weight is not None:
        appended["weight"] = judged.weight[answered]
    return {name: np.concatenate([array, appended[name]]) for name, array in arrays.items()}


def _judged_parts(pairs: Path, columns: dict[str, str | None], scale: Scale | None = None) -> Iterator[PairTable]:
    for source, table in _pair_batches(pairs):
        yield as_judged(source, table, columns, scale=scale)


def _pair_batches(pairs: Path) -> Iterator[tuple[TableSource, TypedTable]]:
    """Yield the pairs in batches, each with its source for messages."""
    for file in parquet_files(pairs):
        start = 0
        for batch in read_batches(file, read_column_names(file), _GROUP_ROWS):
            columns = {name: batch.column(name) for name in batch.schema.names}
            yield TableSource.of_file(file, start), TypedTable(columns)
            start += batch.num_rows


def _find_scale(pairs: Path, columns: dict[str, str | None]) -> Scale:
    """Return the scale of all judgements; up to :data:`_DISTINCT_VALUES` of them and the extremes determine it."""
    values = np.empty(0)
    farthest = -1.0
    farthest_part = None
    for part in _judged_parts(pairs, columns):
        c = part.difference[np.isfinite(part.difference)]
        if not len(c):
            continue
        values = _fewer_values(np.unique(np.concatenate([values, c])))
        if np.abs(c).max() > farthest:
            farthest = float(np.abs(c).max())
            farthest_part = part
    return PLAIN_SCALE if farthest_part is None else known_scale(farthest_part, values)


def _fewer_values(distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return some of many sorted values, with both extremes and one fraction, if there is any."""
    if len(distinct) <= _DISTINCT_VALUES:
        return distinct
    return np.concatenate([distinct[: _DISTINCT_VALUES // 2], distinct[distinct % 1 != 0][:1], distinct[-1:]])
