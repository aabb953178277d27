"""The record of a trial whose plug-in is not loaded, or is loaded in another version: kept and listed, not analysed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from confdiff.experiments.trials.fields import check_unit, take
from confdiff.experiments.trials.spec import trial_key
from confdiff.io.decoding import decode
from confdiff.io.documents import check_plain_name
from confdiff.plugins import loaded_plugins
from confdiff.tasks import TaskSpec
from confdiff.validation import check_count, check_number, check_prior

_TASK_FIELDS = frozenset(item.name for item in fields(TaskSpec))


@dataclass(frozen=True, kw_only=True)
class ForeignRecord:
    """The result of a trial of a plug-in that is not loaded.

    Attributes
    ----------
    key : str
        The key that the trial was stored under.
    plugins : mapping
        Name -> version of the plug-ins that the trial needs.
    dataset, prior, protocol, method, seed, epochs, network
        What was run. The names may be unknown here.
    accuracy : float
        Test accuracy.
    line : mapping
        All fields of the line.
    """

    key: str
    plugins: Mapping[str, str]
    dataset: str
    prior: float
    protocol: str
    method: str
    seed: int
    epochs: int
    network: str
    accuracy: float
    line: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the record as the fields of a line of a result file."""
        return dict(self.line)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "ForeignRecord":
        """Return the record of a line of a result file; its names are texts, as only the plug-in knows them.

        Raises
        ------
        ValueError
            If a field is missing or has a value that it cannot have, or the key is not that of the fields.
        """
        rest = dict(values)
        names = ("key", "dataset", "protocol", "method", "network")
        texts = {name: decode(str, take(rest, name), name) for name in names}
        for name in names:
            check_plain_name(name, texts[name])
        plugins = decode(dict[str, str], take(rest, "plugins"), "plugins")
        record = cls(
            **texts,
            plugins=plugins,
            prior=check_prior(take(rest, "prior")),
            seed=check_count("seed", take(rest, "seed"), least=0),
            epochs=check_count("epochs", take(rest, "epochs")),
            accuracy=check_number("accuracy", take(rest, "accuracy")),
            line=values,
        )
        check_unit("accuracy", record.accuracy)
        if record.key != record._expected_key():
            raise ValueError(f"its key {record.key!r:.40} is not the key of its fields, {record._expected_key()!r}")
        return record

    def _expected_key(self) -> str:
        task = {name: value for name, value in self.line.items() if name in _TASK_FIELDS}
        prior_field = {name: self.line[name] for name in ("prior_is_told",) if name in self.line}
        return trial_key(self.method, self.epochs, task, prior_field, dict(self.plugins))


def is_foreign(values: Mapping[str, Any]) -> bool:
    """Return whether the line of a result file needs plug-ins, or versions of them, that are not loaded."""
    if "plugins" not in values:
        return False
    plugins = decode(dict[str, str], values["plugins"], "plugins")
    loaded = {plugin.name: plugin.version for plugin in loaded_plugins()}
    return any(loaded.get(name) != version for name, version in plugins.items())
