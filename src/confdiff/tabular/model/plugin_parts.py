"""The parts of a model that come from plug-ins: saved by name, and asked for by name when the model is loaded."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from confdiff.estimators import ConfDiffClassifier
from confdiff.estimators.items import DifferenceScored
from confdiff.links import LinkName, find_link
from confdiff.methods import METHODS, expect_method
from confdiff.models import MODELS
from confdiff.plugins import plugin_of
from confdiff.validation import warn_user

_Kind = Literal["method", "model"]


@dataclass(frozen=True)
class PluginPart:
    """A method or a network of a plug-in.

    Attributes
    ----------
    kind : {"method", "model"}
        The table that it is in.
    name : str
        Its name there.
    link : str
        The link of the model.
    plugin, version : str
        The plug-in, and the version that the model was fitted with.
    """

    kind: _Kind
    name: str
    link: LinkName
    plugin: str
    version: str

    def __post_init__(self) -> None:
        find_link(self.link)

    def __str__(self) -> str:
        what = "method" if self.kind == "method" else "network"
        return f"the {what} {self.name!r} of this model comes from the plug-in {self.plugin} {self.version}"


_expected: dict[str, PluginPart] = {}
"""Method -> the part of a model that was loaded without the plug-in."""


def parts_of(classifier: DifferenceScored) -> list[PluginPart]:
    """Return the parts of a classifier that come from plug-ins; built-in ones are not listed."""
    if not isinstance(classifier, ConfDiffClassifier):
        return []
    names: list[tuple[_Kind, Any]] = [("method", classifier.method), ("model", classifier.model)]
    parts = []
    for kind, name in names:
        plugin = plugin_of(kind, name) if isinstance(name, str) else None
        if plugin is not None:
            parts.append(PluginPart(kind, name, classifier.link_, plugin.name, plugin.version))
        elif kind == "method" and name in _expected and name not in METHODS:  # of a model that is saved again
            parts.append(_expected[name])
    return parts


def expect_parts(parts: Iterable[PluginPart]) -> None:
    """Prepare for a model with parts of plug-ins; nothing is loaded.

    Only training needs a method, so that its name is enough. A network must be loaded.

    Raises
    ------
    ValueError
        A network comes from a plug-in that is not loaded.
    """
    for part in parts:
        table: Any = METHODS if part.kind == "method" else MODELS
        if part.name not in table:
            _expect(part)
            continue
        plugin = plugin_of(part.kind, part.name)
        if plugin is not None and (plugin.name, plugin.version) != (part.plugin, part.version):
            warn_user(f"{part}, and {plugin} is loaded.")


def _expect(part: PluginPart) -> None:
    reason = f"{part}, which is not loaded: load it first by load_plugins('FILE.py')."
    if part.kind == "model":
        raise ValueError(reason)
    _expected[part.name] = part
    expect_method(part.name, part.link, reason)
