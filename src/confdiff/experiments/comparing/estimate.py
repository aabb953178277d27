"""An estimate of the time that trials take, from the finished ones."""

from collections.abc import Callable, Sequence
from statistics import mean

from confdiff.experiments.statistics import grouped
from confdiff.experiments.trials.record import Record, TrialRecord
from confdiff.experiments.trials.spec import TrialSpec

_Key = Callable[[TrialSpec], tuple[object, ...]]
_CLOSEST: tuple[_Key, ...] = (
    lambda spec: (spec.task.network, spec.dataset, spec.method),
    lambda spec: (spec.task.network, spec.dataset),
    lambda spec: (spec.task.network,),
)
"""Trials to estimate from, the most similar first."""


def estimated_seconds(specs: Sequence[TrialSpec], records: Sequence[Record]) -> float | None:
    """Estimate the processor time of trials from finished ones with the same network; None without any.

    The time of a pass over a pair is that of the same data set and method, of the same data set, or of any data set.

    Parameters
    ----------
    specs : sequence of TrialSpec
        The trials to estimate.
    records : sequence of Record
        Finished trials.
    """
    measured = [record for record in records if isinstance(record, TrialRecord) and record.processor_seconds]
    paces = [_paces(measured, key) for key in _CLOSEST]
    total = 0.0
    for spec in specs:
        found = [pace[key(spec)] for pace, key in zip(paces, _CLOSEST, strict=True) if key(spec) in pace]
        if not found:
            return None
        total += found[0] * _passes(spec)
    return total


def _paces(records: Sequence[TrialRecord], key: _Key) -> dict[tuple[object, ...], float]:
    """Return the mean processor time of a pass over a pair, for each group of trials."""
    groups = grouped(records, lambda record: key(record.spec))
    return {key(group[0].spec): mean(map(_pace, group)) for group in groups}


def _pace(record: TrialRecord) -> float:
    return (record.processor_seconds or 0.0) / _passes(record.spec)


def _passes(spec: TrialSpec) -> float:
    pairs = spec.task.n_pairs or spec.task.setting.n_pairs
    return spec.epochs * pairs * spec.task.fraction
