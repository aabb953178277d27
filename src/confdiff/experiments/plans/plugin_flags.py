"""The flags that load the plug-ins of a command."""

import shlex
from collections.abc import Iterable, Sequence

from confdiff.experiments.trials.record import Record, TrialRecord
from confdiff.plugins import TableKind, plugin_of


def plugin_flags(names: Iterable[tuple[TableKind, str]]) -> str:
    """Return the flags for the plug-ins that some names come from, with a blank before each.

    >>> plugin_flags([("method", "confdiff-abs"), ("data set", "digits")])
    ''
    """
    plugins = (plugin_of(kind, name) for kind, name in names)
    sources = dict.fromkeys(plugin.source for plugin in plugins if plugin is not None)
    return "".join(f" --plugin {shlex.quote(source)}" for source in sources)


def plugin_flags_of(records: Sequence[Record]) -> str:
    """Return the flags for the plug-ins of finished trials."""
    specs = [record.spec for record in records if isinstance(record, TrialRecord)]
    methods: list[tuple[TableKind, str]] = [("method", spec.method) for spec in specs]
    datasets: list[tuple[TableKind, str]] = [("data set", spec.dataset) for spec in specs]
    models: list[tuple[TableKind, str]] = [("model", spec.task.network) for spec in specs]
    return plugin_flags([*methods, *datasets, *models])
