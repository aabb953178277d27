"""Describe a data set without loading it: the row that it has in the registry."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from confdiff.datasets.dataset import list_names
from confdiff.datasets.sources import Form

Kind = Literal["labelled", "comparisons", "interactions"]
"""Kinds of data sets: items with classes, pairs that people compared, or interactions of users with items."""


@dataclass(frozen=True)
class PairSetting:
    """Settings for learning from pairs of a data set, as in the paper.

    Parameters
    ----------
    n_pairs : int
        The number of pairs to draw.
    batch_size : int
        Pairs per step; for teachers, items per step.
    learning_rate, weight_decay : float
        Of the optimiser.
    epochs : int
        Passes over the pairs, where a command is given no number.
    priors : tuple of float
        Class priors at which ``confdiff run`` draws pairs if it is given none.
    """

    n_pairs: int
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    epochs: int = 200
    priors: tuple[float, ...] = (0.5,)


@dataclass(frozen=True)
class RankingSetting:
    """Settings of the recommender experiment for a data set of interactions.

    Parameters
    ----------
    confidence : str
        Conversion of strengths to confidences, see :func:`confdiff.recommender.confidence.grade_interactions`.
    threshold : float or None
        The strength above which an interaction is positive; None for the default of ``confidence``.
    negatives : str
        Source of the candidates of a ranking, see :func:`confdiff.recommender.protocol.leave_one_out`.
    n_users : int or None
        Keep this number of users, those with the most interactions; None for all.
    """

    confidence: str
    threshold: float | None
    negatives: str
    n_users: int | None = None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """All properties of a data set that the package uses.

    Parameters
    ----------
    label : str
        Short name for reports.
    title : str
        Short description of the data.
    licence, home : str
        The licence, and the address of the publishers.
    citation : str
        The publication to cite, for judgements of people.
    n_train : int or None
        The number of items, or of those in the published training set; None if it is not known before loading.
    n_test : int or None
        The number of items in the published test set; None if the paper splits at random.
    forms : tuple of Form
        The forms in which the data set is published, the preferred one first.
    builtin : callable or None
        Load a data set that a dependency includes or a plug-in makes; it then has no forms.
    kind : {"labelled", "comparisons", "interactions"}
        Kind of the data set.
    n_features : int or None
        The number of features of an item.
    class_names : tuple of str
        The names of classes 0, 1, ...
    positive : tuple of int
        The classes that count as positive.
    network : {"table", "picture"}
        The kind of network that learns from it.
    layout : tuple of int or None
        The axes of a colour picture in the order of its features: (channels, height, width).
    graded_by_people : bool
        Whether its posteriors are votes of people, so that no teacher grades it.
    setting : PairSetting or None
        The paper's settings; None if no pairs are drawn.
    ranking : RankingSetting or None
        Settings of the recommender experiment, for interactions only.
    """

    label: str
    title: str
    licence: str
    home: str
    n_train: int | None
    n_test: int | None = None
    forms: tuple[Form, ...] = ()
    citation: str = ""
    builtin: Callable[[], Any] | None = None
    kind: Kind = "labelled"
    n_features: int | None = None
    class_names: tuple[str, ...] = ()
    positive: tuple[int, ...] = ()
    network: Literal["table", "picture"] = "table"
    layout: tuple[int, int, int] | None = None
    graded_by_people: bool = False
    setting: PairSetting | None = None
    ranking: RankingSetting | None = None

    @property
    def positive_names(self) -> str:
        """The names of the positive classes as a phrase."""
        return list_names(self.class_names, self.positive)

    @property
    def size(self) -> str:
        """The number of items as text, such as ``60,000 + 10,000``; empty if it is not known."""
        if self.n_train is None:
            return ""
        return f"{self.n_train:,}" + (f" + {self.n_test:,}" if self.n_test else "")

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files of all forms."""
        return tuple(source.name for form in self.forms for source in form.sources)

    @property
    def optional_files(self) -> bool:
        """Whether the data set can be used without some of its files."""
        return any(not source.needed for form in self.forms for source in form.sources)
