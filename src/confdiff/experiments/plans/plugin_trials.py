"""The plug-ins that trials come from, and the trials of plug-ins that are not loaded."""

from collections.abc import Iterator, Sequence

from confdiff.display.text import listed, plural
from confdiff.experiments.plans.experiment import Experiment, classifier_records
from confdiff.experiments.report.blocks import Block, Heading, Paragraph, Table
from confdiff.experiments.report.numbers import trials_text
from confdiff.experiments.report.style import dataset_label, label_of
from confdiff.experiments.statistics import Trials, grouped
from confdiff.experiments.trials.foreign_record import ForeignRecord
from confdiff.experiments.trials.record import Record, TrialRecord
from confdiff.plugins import Plugin, loaded_plugins, plugin_of

_TITLE = "Plug-ins"
_LOADED = """\
These plug-ins define methods, data sets or networks of the trials above. Their versions are a part of each trial."""
_NOT_LOADED = """\
These trials come from plug-ins, or versions of them, that were not loaded for this report. No other section \
includes them. `--plugin FILE` loads a plug-in."""


def _section(records: Sequence[Record]) -> list[Block]:
    used = _used(classifier_records(records))
    foreign = [record for record in records if isinstance(record, ForeignRecord)]
    blocks: list[Block] = []
    if used or foreign:
        blocks.append(Heading(_TITLE, anchor="plug-ins", link=_TITLE))
    if used:
        head = ["plug-in", "version", "from", "methods", "data sets", "networks"]
        blocks += [Paragraph(_LOADED), Table(head, list(_rows(used)))]
    if foreign:
        blocks += [Paragraph(f"{plural(len(foreign), 'trial')}. {_NOT_LOADED}"), _foreign_table(foreign)]
    return blocks


def _used(records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """Return the records that need plug-ins."""
    return [record for record in records if record.spec.plugins]


def _rows(records: Sequence[TrialRecord]) -> Iterator[list[str]]:
    """Yield a row for each plug-in: what the records use of it."""
    methods = dict.fromkeys(record.method for record in records)
    datasets = dict.fromkeys(record.dataset for record in records)
    networks = dict.fromkeys(record.network for record in records)
    for plugin in loaded_plugins():
        columns = [
            [label_of(name) for name in methods if plugin_of("method", name) == plugin],
            [dataset_label(name) for name in datasets if plugin_of("data set", name) == plugin],
            [name for name in networks if plugin_of("model", name) == plugin],
        ]
        if any(columns):
            yield [*_names(plugin), *map(listed, columns)]


def _names(plugin: Plugin) -> tuple[str, str, str]:
    return plugin.name, plugin.version, plugin.source


def _foreign_table(records: Sequence[ForeignRecord]) -> Table:
    rows = []
    for group in grouped(records, _setting):
        first = group[0]
        trials = Trials({record.seed: record.accuracy for record in group})
        plugins = listed([f"{name} {version}" for name, version in first.plugins.items()])
        place = [first.dataset, f"{first.prior:g}", first.method, first.network, first.protocol, str(first.epochs)]
        rows.append([plugins, *place, trials_text(trials)])
    head = ["plug-in", "data set", "prior", "method", "network", "protocol", "epochs", "accuracy (trials)"]
    return Table(head, rows, group_columns=1)


def _setting(record: ForeignRecord) -> tuple[object, ...]:
    """Return all fields that trials of one row share: all but the seed and the measurements."""
    measured = ("key", "seed", "accuracy", "seconds", "processor_seconds", "teacher_accuracy", "curve", "versions")
    return tuple(str((name, value)) for name, value in record.line.items() if name not in measured)


PLUGIN_TRIALS = Experiment(section=_section)
