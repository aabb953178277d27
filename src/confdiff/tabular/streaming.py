"""Fitting on files that need not fit into memory: items encoded into a mapped file, pairs turned into row numbers."""

import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators import ConfDiffClassifier
from confdiff.io.batches import column_names, read_batches, writing_batches
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.pairs.parquet import parquet_files
from confdiff.tabular.comparisons import compare, items_held_out, unknown_scale
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.fitting import FitOptions, new_classifier, without_nan
from confdiff.tabular.model.agreement import agreement, difference_reliability
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.scales import Scale, recognise_scale
from confdiff.tabular.sources import Source
from confdiff.tabular.tables import ItemTable, PairTable, read_judged, recognised_id
from confdiff.tabular.values import check_ids

LEARNED_FROM = 200_000
"""So many items, the first ones of the file, tell how columns become numbers."""
_JUDGED = 100_000
_ROWS = 250_000  # pairs in a row group


def fit_streamed(
    items: Path,
    pairs: Path,
    options: FitOptions,
    *,
    work: Path,
    id: str | None = None,
    ignore: tuple[str, ...] = (),
    scale: Scale | None = None,
    columns: Mapping[str, str | None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: int = 0,
) -> ComparisonModel:
    """As :func:`fit_comparisons`, from a table of items and Parquet files of pairs that need not fit into memory.

    work: a folder for the encoded items and the pairs as row numbers; it is removed in the end.
    """
    with _working_in(work), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        features, ids, encoded = _encoded(items, work, options, id, ignore)
        told, count = _as_rows(pairs, work, ids, scale, dict(columns or {}))
        stream = StreamedPairs(encoded, work / "pairs.parquet", window=min(2**20, 4 * _ROWS))
        classifier, validation = _fitted(stream, options, checkpoint, verbose)
        about: dict[str, Any] = {
            "data": {
                "items": len(ids), "compared items": len(ids), "pairs": count, "columns": features.kinds_,
                "features": stream.items.shape[1], "scale": told.name, "weighted": stream.weighted, "groups": None,
            },
            "options": asdict(options) | {"kinds": dict(options.kinds or {}), "streamed": True},
            "validation": validation,
            "probabilities": _histogram(classifier, stream),
        }  # fmt: skip
    about["warnings"] = [str(warning.message) for warning in caught if warning.category is UserWarning]
    return ComparisonModel(features, classifier, about)


@contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _encoded(
    path: Path, work: Path, options: FitOptions, id: str | None, ignore: tuple[str, ...]
) -> tuple[ItemFeatures, NDArray[Any], Path]:
    """What was learned of the columns, the ids, and the file with the features of all items."""
    there = column_names(path)
    key = id or recognised_id(Source.of_file(path), there)
    used = [name for name in there if name not in ignore]
    features = ItemFeatures(kinds=options.kinds, most_words=options.most_words)
    features.fit(_first(path, used, key))
    output, ids, count = work / "items.npy", [], 0
    raw = work / "items.raw"
    with raw.open("wb") as file:
        for table in _tables(path, used, key):
            file.write(np.ascontiguousarray(features.transform(table)).data)
            ids.append(table.ids)
            count += len(table)
    width = len(features.get_feature_names_out())
    mapped = np.lib.format.open_memmap(output, mode="w+", dtype=np.float32, shape=(count, width))
    mapped[:] = np.memmap(raw, dtype=np.float32, mode="r", shape=(count, width))
    mapped.flush()
    raw.unlink()
    return features, check_ids(Source.of_file(path), np.concatenate(ids)), output


def _tables(path: Path, columns: list[str], key: str) -> Iterator[ItemTable]:
    for batch in read_batches(path, dict.fromkeys(columns)):
        found = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in columns}
        ids = found.pop(key)
        yield ItemTable(Source.of_file(path), ids, found)


def _first(path: Path, columns: list[str], key: str) -> ItemTable:
    """The first items of a file, as many as are learned from."""
    parts: list[ItemTable] = []
    for table in _tables(path, columns, key):
        parts.append(table)
        if sum(map(len, parts)) >= LEARNED_FROM:
            break
    if not parts:
        raise ValueError(f"{path} must have at least one row.")
    joined = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
    return ItemTable(Source.of_file(path), np.concatenate([part.ids for part in parts]), joined)


def _as_rows(
    pairs: Path, work: Path, ids: NDArray[Any], scale: Scale | None, columns: dict[str, str | None]
) -> tuple[Scale, int]:
    """Write the pairs as row numbers of the items and differences from -1 to 1. Returns: their scale and number."""
    import pyarrow

    told = scale or _scale_of(pairs, columns)
    table, count = ItemTable(Source("the items"), ids, {}), 0
    with writing_batches(work / "pairs.parquet") as write:
        for judged in _judged_parts(pairs, columns):
            compared = compare(table, judged, told)
            known = {"left": compared.left, "right": compared.right, "difference": compared.difference}
            if judged.weight is not None:
                known["weight"] = judged.weight
            write(pyarrow.record_batch({name: pyarrow.array(column) for name, column in known.items()}))
            count += len(compared)
    return told, count


def _judged_parts(pairs: Path, columns: dict[str, str | None]) -> Iterator[PairTable]:
    for file in parquet_files(pairs):
        start = 0
        for batch in read_batches(file, dict.fromkeys(column_names(file)), _ROWS):
            part = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}
            yield replace(read_judged(part, **columns), source=Source.of_file(file, start))
            start += batch.num_rows


def _scale_of(pairs: Path, columns: dict[str, str | None]) -> Scale:
    """The scale of all differences, told by their ends and by whether one of them is no whole number."""
    seen, farthest, where = [0.0], 0.0, None
    for part in _judged_parts(pairs, columns):
        c = part.difference[np.isfinite(part.difference)]
        if len(c):
            seen += [c.min(), c.max(), *c[c % 1 != 0][:1]]
        if len(c) and np.abs(c).max() > farthest:
            farthest, where = float(np.abs(c).max()), part
    found = recognise_scale(seen[1:])
    if found is None:
        raise unknown_scale(where or part)
    return found


def _fitted(
    stream: StreamedPairs, options: FitOptions, checkpoint: Any, verbose: int
) -> tuple[ConfDiffClassifier, dict[str, Any] | None]:
    classifier = new_classifier(options, verbose)
    if not options.valid:
        return classifier.fit(stream, checkpoint=checkpoint), None
    part = items_held_out(len(stream.items), options.valid, options.seed)
    kept = stream.without(part > 0)
    stop = stream.without(part == 2).sample(_JUDGED, options.seed, touching=part == 1)
    judge = stream.sample(_JUDGED, options.seed, touching=part == 2)
    classifier.fit(kept, validation=stop, checkpoint=checkpoint)
    return classifier, _judged(classifier, kept, stop, judge)


def _judged(classifier: ConfDiffClassifier, kept: StreamedPairs, stop: Pairs, judge: Pairs) -> dict[str, Any]:
    p = classifier.predict_proba(judge.items.numpy())[:, 1]
    assert judge.difference is not None
    compared = p[judge.left], p[judge.right], judge.difference.numpy()
    return {
        "pairs trained on": len(kept),
        "pairs stopped by": len(stop),
        "judged": without_nan(agreement(*compared).as_dict()),
        "reliability": difference_reliability(*compared),
    }


def _histogram(classifier: ConfDiffClassifier, stream: StreamedPairs) -> list[int]:
    """How many items have which probability."""
    counts, items = np.zeros(20, dtype=np.int64), stream.items.numpy()
    for start in range(0, len(items), 65_536):
        counts += np.histogram(classifier.predict_proba(items[start : start + 65_536])[:, 1], 20, (0, 1))[0]
    return [int(count) for count in counts]
