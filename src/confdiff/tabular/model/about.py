"""Describe a fitted model: its data, options, validation and warnings."""

from dataclasses import asdict, dataclass
from typing import Any

from confdiff.estimators.selection import Selection
from confdiff.io.decoding import check_object, decode_fields
from confdiff.links import find_link
from confdiff.spacing import Spacing
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.model.agreement import Agreement, AnswerAgreement
from confdiff.tabular.model.importance import Importance
from confdiff.tabular.scales import parse_scale
from confdiff.validation import check_count


@dataclass(frozen=True)
class DataSummary:
    """Sizes and columns of the data of a fit.

    ``summary`` in ``training_data.py`` and ``streaming.py`` makes it; ``card.html`` shows it. A new field needs a
    default, so that saved models can still be loaded.

    Attributes
    ----------
    items, compared_items
        Number of items, and of those that occur in a pair.
    pairs
        Number of pairs.
    columns
        Column of the items -> its kind, such as ``"number"``.
    features
        Number of features after encoding.
    scale
        The scale of the judgements, in words.
    scale_option
        The same scale as the option ``scale`` names it, such as ``"1,7"`` or ``"saaty"``; evaluation uses it.
    weighted
        Whether the pairs have weights.
    groups
        Number of groups, or None.
    annotators
        Number of annotators, or None.
    id_name, id_type
        The column of ids of the items, and the type of its values, ``"integer"`` or ``"text"``. The ids are a feature
        if ``FitOptions.with_id`` is true.
    streamed
        Whether the pairs were read in parts.
    answers_only
        Whether the pairs have same-class answers and no differences.
    study
        The study from which the items and the pairs come, or None.
    """

    items: int
    compared_items: int
    pairs: int
    columns: dict[str, str]
    features: int
    scale: str
    weighted: bool = False
    groups: int | None = None
    id_name: str = "id"
    id_type: str = "text"
    streamed: bool = False
    scale_option: str | None = None
    answers_only: bool = False
    annotators: int | None = None
    study: str | None = None

    def __post_init__(self) -> None:
        for name in ("items", "compared_items", "pairs", "features"):
            check_count(name, getattr(self, name))
        if self.scale_option is not None:
            parse_scale(self.scale_option)

    @property
    def unit(self) -> float:
        """The judged units of a difference of 1."""
        return 1.0 if self.scale_option is None else parse_scale(self.scale_option).unit


@dataclass(frozen=True)
class Histogram:
    """Numbers of items in intervals of equal width.

    Attributes
    ----------
    low, high
        The ends of the first and of the last interval.
    counts
        The number of items in each interval.
    """

    low: float
    high: float
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if not (self.low < self.high and self.counts):
            raise ValueError(f"a histogram needs intervals; got {self.counts!r:.60} from {self.low} to {self.high}.")
        for count in self.counts:
            check_count("items of an interval", count, least=0)

    @property
    def centres(self) -> tuple[float, ...]:
        """The centres of the intervals.

        >>> Histogram(low=0.0, high=1.0, counts=(3, 1)).centres
        (0.25, 0.75)
        """
        width = (self.high - self.low) / len(self.counts)
        return tuple(self.low + (k + 0.5) * width for k in range(len(self.counts)))


@dataclass(frozen=True)
class Validation:
    """Metrics on held-out pairs.

    Attributes
    ----------
    training_pairs, validation_pairs
        Number of pairs in the training set, and in the validation set for early stopping and calibration. The latter
        is 0 if candidates were compared on the training set.
    test
        Agreement with the test set, whose pairs have at least one item that training has not seen.
    new_items
        Agreement with the test pairs of two new items, which are in no training pair. None if no test pair, or every
        test pair, has two new items.
    reliability
        (mean predicted difference, mean judged difference, number of pairs) for intervals of the predicted difference.
    """

    training_pairs: int
    validation_pairs: int
    test: Agreement
    new_items: Agreement | None
    reliability: tuple[tuple[float, float, int], ...]

    def __post_init__(self) -> None:
        check_count("training_pairs", self.training_pairs)
        check_count("validation_pairs", self.validation_pairs, least=0)
        if not self.reliability:
            raise ValueError("reliability must have at least one interval; got none.")
        for _, _, count in self.reliability:
            check_count("pairs of an interval", count)

    def to_json(self) -> dict[str, Any]:
        """Return the metrics as JSON values."""
        return {
            "training_pairs": self.training_pairs,
            "validation_pairs": self.validation_pairs,
            "test": self.test.to_json(),
            "new_items": None if self.new_items is None else self.new_items.to_json(),
            "reliability": [list(point) for point in self.reliability],
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Validation":
        """Return the object from the JSON values of :meth:`to_json`."""
        values = check_object("validation", values)
        new_items = values["new_items"]
        return decode_fields(
            cls,
            values,
            test=Agreement.from_json(values["test"]),
            new_items=None if new_items is None else Agreement.from_json(new_items),
        )


@dataclass(frozen=True)
class About:
    """Description of a model: its data, options and quality.

    Attributes
    ----------
    data
        Sizes and columns of the data.
    options
        The options of the fit.
    validation
        Metrics on held-out pairs; None if none were held out.
    link
        The meaning of the judgements, as :mod:`confdiff.links` names it.
    selection
        The comparison that chose the estimator, or the link of a network; None without a comparison.
    outputs
        Histogram of the probabilities of all items, from 0 to 1, or of their scores if the link has no classes.
    importance
        The importance of the columns on the test set; None if no pairs were held out.
    spacing
        The values of the grades; None if they are as the scale defines them.
    answers
        Metrics on the same-class answers of the test set, if the pairs have no differences; otherwise None.
    warnings
        Warnings of the fit, each once.
    """

    data: DataSummary
    options: FitOptions
    validation: Validation | None
    outputs: Histogram
    link: str = "probability"
    selection: Selection | None = None
    importance: Importance | None = None
    spacing: Spacing | None = None
    warnings: tuple[str, ...] = ()
    answers: AnswerAgreement | None = None

    def __post_init__(self) -> None:
        find_link(self.link)

    def to_json(self) -> dict[str, Any]:
        """Return the description as JSON values: strings, finite numbers, lists and dictionaries."""
        return {
            "data": asdict(self.data),
            "options": self.options.to_json(),
            "validation": None if self.validation is None else self.validation.to_json(),
            "outputs": asdict(self.outputs) | {"counts": list(self.outputs.counts)},
            "link": self.link,
            "selection": None if self.selection is None else self.selection.to_json(),
            "importance": None if self.importance is None else self.importance.to_json(),
            "spacing": None if self.spacing is None else self.spacing.to_json(),
            "warnings": list(self.warnings),
            "answers": None if self.answers is None else asdict(self.answers),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "About":
        """Return the object from the JSON values of :meth:`to_json`."""
        values = check_object("about", values)
        validation = values["validation"]
        selection = values["selection"]
        return decode_fields(
            cls,
            values,
            validation=None if validation is None else Validation.from_json(validation),
            selection=None if selection is None else Selection.from_json(selection),
        )
