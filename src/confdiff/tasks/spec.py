"""Define the record that determines a task."""

from dataclasses import dataclass

from confdiff.datasets import DATASETS
from confdiff.datasets.entry import PairSetting
from confdiff.models import MODELS
from confdiff.pairs import NOISES, STRATEGIES, check_noise
from confdiff.plugins import look_up, versions_of
from confdiff.randomness import derived_seed
from confdiff.tasks.protocols import PROTOCOLS
from confdiff.teacher import TEACHER_RECIPE, Teaching
from confdiff.training import Recipe
from confdiff.validation import check_choice, check_count, check_fraction, check_number, check_prior


@dataclass(frozen=True)
class TaskSpec:
    """Everything that determines a task.

    Parameters
    ----------
    dataset : str
        A labelled data set from :data:`~confdiff.datasets.DATASETS`.
    prior : float
        The class prior at which pairs are drawn.
    protocol : str
        A name from :data:`~confdiff.tasks.PROTOCOLS`.
    seed : int
        Seed of all random draws: split, teacher, pairs, noise, test set.
    n_pairs : int, optional
        The number of pairs; by default the paper's number for the data set.
    fraction : float
        The fraction of the pairs to keep; pairs of a smaller fraction are among those of a larger one.
    partners : int
        The number of pairs in which each item occurs.
    replacement : bool
        Whether an item may be drawn more than once if there are too few.
    noise, noise_amount, clip :
        Noise on the differences, see :func:`confdiff.pairs.add_noise`.
    pcomp : {"reverse", "discard"}, optional
        Order the pairs by their labels, see :func:`confdiff.pairs.order_by_labels`.
    prior_factor : float
        The learner is given the prior times this factor.
    model : str, optional
        The network of teacher and learner; by default the one of the protocol.
    folds, calibrated :
        See :class:`confdiff.teacher.Teaching`.
    adjusted : bool
        Whether to adjust the teacher's posteriors to the class prior at which pairs are drawn.
    incomplete : bool
        Whether to use the batches of CIFAR-10 that exist instead of downloading the others.
    """

    dataset: str = "digits"
    prior: float = 0.5
    protocol: str = "paper"
    seed: int = 0
    n_pairs: int | None = None
    fraction: float = 1.0
    partners: int = 1
    replacement: bool = False
    noise: str | None = None
    noise_amount: float | None = None
    clip: bool | None = None
    pcomp: str | None = None
    prior_factor: float = 1.0
    model: str | None = None
    folds: int = 1
    calibrated: bool = False
    adjusted: bool = False
    incomplete: bool = False

    def __post_init__(self) -> None:
        look_up("data set", DATASETS, self.dataset)
        if DATASETS[self.dataset].setting is None:
            kind = DATASETS[self.dataset].kind
            raise ValueError(
                f"pairs are drawn from labelled data sets; {self.dataset} holds {kind}: use load({self.dataset!r})."
            )
        check_choice("protocol", self.protocol, PROTOCOLS)
        check_prior(self.prior)
        check_count("seed", self.seed, least=0)
        check_fraction("fraction", self.fraction)
        for name in ("n_pairs", "partners", "folds"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        if DATASETS[self.dataset].graded_by_people and (self.folds > 1 or self.calibrated):
            raise ValueError(
                f"{self.dataset} is graded by people, without a teacher: folds must be 1 and calibrated False."
            )
        check_prior(self.given_prior)
        self._check_noise()
        if self.pcomp is not None:
            check_choice("strategy", self.pcomp, STRATEGIES)
        if self.model is not None:
            look_up("model", MODELS, self.model)

    def _check_noise(self) -> None:
        if self.noise in NOISES and self.noise_amount is None:
            raise ValueError(
                f"noise={self.noise!r} needs its amount, {NOISES[self.noise].amount}: pass noise_amount=..."
            )
        if self.noise is not None:
            check_noise(self.noise, self.noise_amount)
            return
        if self.clip is not None:
            raise ValueError(f"clip={self.clip} needs noise; pass noise=KIND, one of {', '.join(NOISES)}.")
        if self.noise_amount is not None:
            amount = f"noise_amount={self.noise_amount:g}"
            raise ValueError(f"{amount} needs a kind of noise; pass noise=KIND, one of {', '.join(NOISES)}.")

    @property
    def setting(self) -> PairSetting:
        """The paper's settings for the data set."""
        setting = DATASETS[self.dataset].setting
        assert setting is not None  # checked above
        return setting

    @property
    def given_prior(self) -> float:
        """The class prior that the learner is given."""
        return check_number("prior_factor", self.prior_factor, above=0) * self.prior

    @property
    def network(self) -> str:
        """The name of the network of teacher and learner."""
        if self.model is not None:
            return self.model
        protocol = PROTOCOLS[self.protocol]
        return protocol.picture_model if DATASETS[self.dataset].network == "picture" else protocol.model

    @property
    def plugins(self) -> dict[str, str]:
        """Name -> version of the plug-ins that the data set and the network come from."""
        return versions_of([("data set", self.dataset), ("model", self.network)])

    @property
    def teaching(self) -> Teaching:
        """The training of the teacher."""
        recipe = Recipe(
            epochs=TEACHER_RECIPE.epochs,
            batch_size=self.setting.batch_size // 2,  # the loop counts pairs, the paper items
            learning_rate=self.setting.learning_rate,
            weight_decay=self.setting.weight_decay,
            seed=derived_seed(self.seed, "teacher"),  # otherwise learner and teacher would start from equal weights
        )
        return Teaching(self.network, recipe, self.folds, self.calibrated)

    def learning(self, epochs: int = 200) -> Recipe:
        """Return the recipe with which the paper trains a learner on this task."""
        return Recipe(
            epochs=epochs,
            batch_size=self.setting.batch_size,
            learning_rate=self.setting.learning_rate,
            weight_decay=self.setting.weight_decay,
            forward_passes=PROTOCOLS[self.protocol].forward_passes,
            seed=self.seed,
        )
