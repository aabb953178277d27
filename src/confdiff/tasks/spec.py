"""Everything that decides a task, in one small record."""

from dataclasses import dataclass

from confdiff.datasets import DATASETS
from confdiff.models import MODELS
from confdiff.pairs import NOISES, STRATEGIES, check_noise
from confdiff.randomness import derived_seed
from confdiff.tasks.protocols import GRADED_BY_PEOPLE, PROTOCOLS, SETTINGS
from confdiff.teacher import TEACHER_RECIPE, Teaching
from confdiff.training import Recipe
from confdiff.validation import check_choice, check_count, check_fraction, check_number, check_prior


@dataclass(frozen=True)
class TaskSpec:
    """Everything that decides a task.

    dataset, prior, protocol: names from DATASETS and PROTOCOLS, and the class prior at which pairs are drawn.
    seed: decides everything that is drawn by chance: split, teacher, pairs, noise, test set.
    n_pairs: the paper's number for the data set, if none is given.
    fraction: keep so much of the pairs; those of a smaller fraction are among those of a larger one.
    partners: in how many pairs each item stands.
    replacement: let an item be drawn more than once where there are too few.
    noise, noise_amount, clip: what becomes of the differences (:func:`confdiff.pairs.add_noise`).
    pcomp: order the pairs by their labels, ``reverse`` or ``discard`` (:func:`confdiff.pairs.order_by_labels`).
    prior_factor: the learner is told this times the prior.
    model: the teacher's network, if not the protocol's, which is the learner's too.
    folds, calibrated: see :class:`confdiff.teacher.Teaching`.
    adjusted: adjust the teacher's posteriors to the class prior at which pairs are drawn.
    incomplete: go with the batches of CIFAR-10 that are there.
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
        check_choice("data set", self.dataset, DATASETS)
        if self.dataset not in SETTINGS:
            raise ValueError(f"{self.dataset} holds pairs that people compared: load it, there is nothing to draw.")
        check_choice("protocol", self.protocol, PROTOCOLS)
        check_prior(self.prior)
        check_count("seed", self.seed, least=0)
        check_fraction("fraction", self.fraction)
        for name in ("n_pairs", "partners", "folds"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        if self.dataset in GRADED_BY_PEOPLE and (self.folds > 1 or self.calibrated):
            raise ValueError(f"{self.dataset} is graded by people: there is no teacher to cross-fit or to calibrate.")
        check_prior(self.told_prior)
        if self.clip is not None and self.noise is None:
            raise ValueError("clip says what becomes of noisy differences, and there is no noise.")
        if self.noise is not None:
            check_noise(self.noise, self.noise_amount)
        elif self.noise_amount is not None:
            raise ValueError(f"an amount of noise, {self.noise_amount:g}, needs a kind of noise: {', '.join(NOISES)}.")
        if self.pcomp is not None:
            check_choice("strategy", self.pcomp, STRATEGIES)
        if self.model is not None:
            check_choice("model", self.model, MODELS)

    @property
    def told_prior(self) -> float:
        """The class prior that the learner is told."""
        return check_number("prior_factor", self.prior_factor, above=0) * self.prior

    @property
    def network(self) -> str:
        """The name of the network of teacher and learner."""
        if self.model is not None:
            return self.model
        protocol = PROTOCOLS[self.protocol]
        return protocol.picture_model if self.dataset.startswith("cifar10") else protocol.model

    @property
    def teaching(self) -> Teaching:
        """How the teacher is trained."""
        setting = SETTINGS[self.dataset]
        recipe = Recipe(
            epochs=TEACHER_RECIPE.epochs,
            batch_size=setting.batch_size // 2,  # the loop counts pairs, the paper items
            learning_rate=setting.learning_rate,
            weight_decay=setting.weight_decay,
            seed=derived_seed(self.seed, "teacher"),  # or the learner would begin where its teacher began
        )
        return Teaching(self.network, recipe, self.folds, self.calibrated)

    def learning(self, epochs: int = 200) -> Recipe:
        """How the paper trains a learner on this task."""
        setting = SETTINGS[self.dataset]
        return Recipe(
            epochs=epochs,
            batch_size=setting.batch_size,
            learning_rate=setting.learning_rate,
            weight_decay=setting.weight_decay,
            forward_passes=PROTOCOLS[self.protocol].forward_passes,
            seed=self.seed,
        )
