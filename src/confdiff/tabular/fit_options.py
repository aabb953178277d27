"""The options of a fit."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from confdiff.estimators.judges import ANNOTATOR_MODELS
from confdiff.io.decoding import decode_fields
from confdiff.links import LINKS
from confdiff.methods import find_method
from confdiff.models import MODELS
from confdiff.prior import DIFFERENCE_KINDS, POSITIVES
from confdiff.spacing import SPACINGS
from confdiff.tabular.comparisons import Unit
from confdiff.training import check_workers
from confdiff.validation import check_choice

COMPARED_MODELS: dict[str, tuple[str, ...] | None] = {
    "auto": None,
    "linear": ("linear",),
    "boosting": ("boosting",),
    "mlp": ("mlp", "paper-mlp"),
}
"""Model -> the candidates of :class:`~confdiff.ConfDiffAuto` that held-out pairs choose among; None for all."""

NETWORK_OPTIONS = ("method", "epochs", "batch_size", "learning_rate", "weight_decay", "workers", "engine", "address")
"""Options of the training of one network. With one of them, that network is trained and no candidates are compared."""


@dataclass(frozen=True)
class FitOptions:
    """Options for fitting a model; None means that the data determine the value.

    Parameters
    ----------
    model
        ``"auto"`` compares linear models, boosted trees and networks on held-out pairs. ``"linear"``, ``"boosting"``
        and ``"mlp"`` compare within the family. Other names are those of networks (:data:`confdiff.models.MODELS`).
        None is ``"auto"``, or ``"mlp"`` with an option of :data:`NETWORK_OPTIONS` or for streamed pairs.
    link
        What the judgements mean, see :mod:`confdiff.links`; ``"auto"`` compares the links on held-out pairs. With a
        prior, labels or label differences it is ``"probability"``.
    differences
        ``"graded"``, or ``"labels"`` if each judgement is the difference of the labels of two items (-1, 0 or 1).
    positives
        ``"rarer"`` or ``"commoner"``: which of the two class priors that label differences leave is the right one.
    prior
        The fraction of positives, ``"estimate"``, or None for the one that the probabilities imply.
    validation_fraction
        Approximate fraction of the pairs to hold out. Half of them are the test set. The other half is used for early
        stopping and calibration of a network, or for training if candidates are compared, which hold out pairs
        themselves. The chosen candidate is fitted to all pairs after its test. 0 holds out none.
    hold_out_groups
        Hold out whole groups, not single items.
    with_id
        Use the ids of the items as a feature. Pairs are then held out, not items.
    annotator_model
        How annotators differ: ``"pooled"`` (not at all), ``"scale"``, or ``"full"`` (scale, side bias and noise);
        ``"auto"`` chooses by held-out answers.
    method, epochs, batch_size, learning_rate, weight_decay, workers, engine, address
        As in :class:`~confdiff.ConfDiffClassifier`; these options train one network.
    spacing
        The values of ordered grades, such as the points of a scale: ``"equal"``, ``"learned"``, or ``"auto"`` to
        choose by held-out answers.
    kinds
        Column -> its kind, see :class:`~confdiff.ItemFeatures`; other columns are recognised.
    max_features
        Maximum number of words and pairs of words per text column. By default 50,000, and 2,000 for streams.
    text_encoder
        A model of sentence-transformers whose vectors are used in addition to the words of texts: its folder, see
        :class:`~confdiff.ItemFeatures`.
    device
        Device of networks, as in :class:`~confdiff.ConfDiffClassifier`.
    seed
        Seed of all random draws.
    """

    model: str | None = None
    link: str = "auto"
    differences: str = "graded"
    positives: str | None = None
    prior: float | str | None = None
    validation_fraction: float = 0.2
    hold_out_groups: bool = False
    with_id: bool = False
    annotator_model: str = "auto"
    method: str | None = None
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    weight_decay: float | None = None
    workers: int | None = None
    engine: str | None = None
    address: str | None = None
    spacing: str = "equal"
    kinds: Mapping[str, str] | None = None
    max_features: int | None = None
    text_encoder: str | None = None
    device: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.model is not None:
            check_choice("model", self.model, [*COMPARED_MODELS, *MODELS])
        check_choice("link", self.link, ["auto", *LINKS])
        check_choice("differences", self.differences, DIFFERENCE_KINDS)
        check_choice("annotator_model", self.annotator_model, ANNOTATOR_MODELS)
        if self.positives is not None:
            check_choice("positives", self.positives, POSITIVES)
        check_choice("spacing", self.spacing, SPACINGS)
        self._check_network_options()
        self._check_link()
        self._check_held_out()

    def _check_network_options(self) -> None:
        """Refuse options of networks for a model that is none, and options of workers without workers."""
        check_workers(self.workers or 1, self.engine or "local", self.address)
        if self.engine is not None and (self.workers or 1) == 1:
            raise ValueError(f"engine={self.engine!r} would not be used: pass workers=2 or more, or omit it.")
        if self.model in ("auto", "boosting") and self.network_options:
            name, value = next(iter(self.network_options.items()))
            raise ValueError(
                f"{name}={value!r} is for a single network and would not be used with model={self.model!r}: pass "
                "model='mlp', or omit it."
            )

    def _check_link(self) -> None:
        """Check that the method and what is known about classes go with the link."""
        if self.method is not None:
            link = find_method(self.method).link
            if self.link not in ("auto", link):
                raise ValueError(f"method={self.method!r} has link={link!r}; got link={self.link!r}. Pass one of them.")
        if self.link in ("preference", "score"):
            options = {
                "prior": self.prior,
                "positives": self.positives,
                "differences": self.differences if self.differences == "labels" else None,
            }
            for name, value in options.items():
                if value is not None:
                    raise ValueError(f"{name}={value!r} would not be used: link={self.link!r} has no classes.")

    def _check_held_out(self) -> None:
        if self.validation_fraction and not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must be at least 0 and below 1, such as 0.2; got {self.validation_fraction!r}."
            )
        if self.hold_out_groups and not self.validation_fraction and not self.is_compared:
            raise ValueError(
                "hold_out_groups=True would not be used: validation_fraction=0 holds out nothing. Pass only one."
            )
        if self.with_id and self.hold_out_groups:
            raise ValueError("with_id=True holds out pairs and hold_out_groups=True holds out groups: pass only one.")

    @property
    def network_options(self) -> dict[str, Any]:
        """The options of a network that are given."""
        return {name: getattr(self, name) for name in NETWORK_OPTIONS if getattr(self, name) is not None}

    @property
    def is_compared(self) -> bool:
        """Whether candidates are compared if the pairs are in memory; otherwise one network is trained."""
        return not self.network_options and (self.model or "auto") in COMPARED_MODELS

    @property
    def held_out_by(self) -> Unit:
        """Unit that is held out as a whole."""
        if self.with_id:
            return "pair"
        return "group" if self.hold_out_groups else "item"

    def to_json(self) -> dict[str, Any]:
        """Return the options as JSON values."""
        return asdict(self) | {"kinds": None if self.kinds is None else dict(self.kinds)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "FitOptions":
        """Return the options from the JSON values of :meth:`to_json`."""
        return decode_fields(cls, values)


def changed_options(options: FitOptions | None, changes: Mapping[str, Any]) -> FitOptions:
    """Return options with some changes, such as ``{"prior": 0.3}``.

    Raises
    ------
    ValueError
        An option does not exist; the message names a similar one.
    """
    for name in changes:
        check_choice("option", name, [field.name for field in fields(FitOptions)])
    return replace(options or FitOptions(), **changes)
