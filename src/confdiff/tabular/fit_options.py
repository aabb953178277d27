"""The options of a fit."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from confdiff.io.decoding import decode_fields
from confdiff.tabular.comparisons import Unit
from confdiff.tabular.weight_decay import CRITERIA
from confdiff.validation import check_choice


@dataclass(frozen=True)
class FitOptions:
    """Options for fitting a model; None means that the data determine the value.

    Parameters
    ----------
    method, model, epochs, batch_size, learning_rate
        As in :class:`~confdiff.ConfDiffClassifier`. If ``epochs`` or ``learning_rate`` is None,
        :func:`confdiff.estimators.settings.make_recipe` chooses it, by the number of pairs and the network.
    prior
        The fraction of positives, ``"estimate"``, or None for the one that the probabilities imply.
    validation_fraction
        Approximate fraction of the pairs to hold out, half for validation and half for testing; 0 for none.
    hold_out_groups
        Hold out whole groups, not single items.
    with_id
        Use the ids of the items as a feature. Pairs are then held out, not items.
    weight_decay
        L2 penalty on the weights. ``"auto"`` chooses it by cross-validation for the highest R² of the differences,
        ``"auto-order"`` for the highest pairwise accuracy.
    kinds
        Column -> its kind, see :class:`~confdiff.ItemFeatures`; other columns are recognised.
    max_features
        Maximum number of words and pairs of words per text column. By default 50,000, and 2,000 for streams.
    device
        Device of PyTorch, as in :class:`~confdiff.ConfDiffClassifier`.
    seed
        Seed of all random draws.
    """

    method: str = "confdiff-regression"
    model: str = "mlp"
    link: str = "auto"
    prior: float | str | None = None
    validation_fraction: float = 0.2
    hold_out_groups: bool = False
    with_id: bool = False
    epochs: int | None = None
    batch_size: int = 256
    learning_rate: float | None = None
    weight_decay: float | str = 1e-5
    kinds: Mapping[str, str] | None = None
    max_features: int | None = None
    device: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.weight_decay, str):
            check_choice("weight_decay", self.weight_decay, CRITERIA)
        if self.validation_fraction and not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must be at least 0 and below 1, such as 0.2; got {self.validation_fraction!r}."
            )
        if self.hold_out_groups and not self.validation_fraction and not isinstance(self.weight_decay, str):
            raise ValueError(
                "hold_out_groups=True would not be used: validation_fraction=0 holds out nothing. Pass only one."
            )
        if self.with_id and self.hold_out_groups:
            raise ValueError("with_id=True holds out pairs and hold_out_groups=True holds out groups: pass only one.")

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
