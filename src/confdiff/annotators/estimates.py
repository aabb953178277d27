"""What is known of annotators: their scales, side biases and noise, and the targets to learn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, t

from confdiff.annotators.censoring import expected_answers, latent_answers
from confdiff.annotators.noise import NoisePrior
from confdiff.annotators.sums import Codes, RealArray
from confdiff.validation import check_choice

AnnotatorModel = Literal["pooled", "scale", "full"]
"""The models of annotators, the simplest first: all are the same, they differ in their scale, or in all."""
CommonScale = Literal["assumed", "labelled items", "same-class answers", "labelled items and same-class answers"]
"""What determines the scale that annotators share."""
_LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class AnnotatorEstimates:
    r"""Estimated scale, side bias and noise of each annotator.

    The answer of annotator a to a pair is :math:`c = s_a d + b_a z + e`, where :math:`d` is the difference of the
    items, :math:`z` the side that they were shown on, and :math:`e` has the variance :math:`v_a`.

    Answers determine the ratios of scales. Their mean, weighted by answers, is set to 1, unless labelled items or
    same-class answers determine it.

    Attributes
    ----------
    model : {"pooled", "scale", "full"}
        The model.
    codes : array of shape (A,)
        The annotators, sorted.
    count : array of shape (A,)
        Their answers.
    scale, bias, noise : arrays of shape (A,)
        Posterior means of scale and bias, and the standard deviation of the noise.
    scale_error, bias_error : arrays of shape (A,)
        Posterior standard deviations.
    is_reversed : array of bool, shape (A,)
        Whether the scale is significantly below 0. Such answers get the weight 0, except with the pooled model.
    is_chance : array of bool, shape (A,)
        Whether answers do not differ from chance, though those of an average annotator to the same pairs would.
    slope : float
        The slope of the answers on the predicted differences that all annotators share.
    scale_spread, bias_spread : float
        Standard deviations of scales and biases over annotators.
    noise_prior : NoisePrior
        The distribution of noise variances over annotators.
    has_side : bool
        Whether biases were estimated: the side was given, and the model has them.
    common_scale : {"assumed", "labelled items", "same-class answers", "labelled items and same-class answers"}
        What determines the scale that annotators share.
    mean_scale, mean_scale_error : float
        The scale of an average annotator, and its standard error; 1 and 0 if it is assumed.
    is_censored : bool
        Whether answers at the ends of the scale mean "at least this much".
    difference_spread : float
        Root mean square of the predicted differences.
    names : tuple of str or None
        Names of the annotators, in the order of ``codes``.
    """

    model: AnnotatorModel
    codes: Codes
    count: RealArray
    scale: RealArray
    bias: RealArray
    noise: RealArray
    scale_error: RealArray
    bias_error: RealArray
    is_reversed: NDArray[np.bool_]
    is_chance: NDArray[np.bool_]
    slope: float
    scale_spread: float
    bias_spread: float
    noise_prior: NoisePrior
    has_side: bool
    common_scale: CommonScale = "assumed"
    mean_scale: float = 1.0
    mean_scale_error: float = 0.0
    is_censored: bool = False
    difference_spread: float = 0.0
    names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"AnnotatorEstimates({len(self)} annotators, model={self.model!r}, common scale {self.common_scale})"

    def predict(self, d: ArrayLike, annotators: ArrayLike, side: ArrayLike | None = None) -> RealArray:
        """Predict the answers of annotators to pairs with the differences ``d``.

        Annotators without training answers count as average ones. Where answers at the ends of the scale mean "at least
        this much", the prediction is the expectation of an answer that the ends limit.

        Parameters
        ----------
        d : array of shape (n,)
            Differences of the items.
        annotators : array of int, shape (n,)
            Who will answer.
        side : array of shape (n,), optional
            As in :meth:`AnswerSums.of`.
        """
        rows = self._rows(annotators)
        answers = self._latent_means(rows, d, side)
        return expected_answers(answers, self._variances[rows]) if self.is_censored else answers

    def adjusted(
        self, c: ArrayLike, annotators: ArrayLike, side: ArrayLike | None = None, d: ArrayLike | None = None
    ) -> tuple[RealArray, RealArray]:
        r"""Return the differences to learn from, and their relative precision.

        With the posterior mean m and variance V of a scale, the target is :math:`m (c - b z) / (m^2 + V)` and its
        precision :math:`(m^2 + V) / v`. The squared error with these is the posterior expectation of the squared error
        of the answers, up to a constant. Targets may exceed [-1, 1]. An answer at an end of the scale that means "at
        least this much" is replaced by its expectation.

        Parameters
        ----------
        c : array of shape (n,)
            Answers.
        annotators : array of int, shape (n,)
            Who gave them.
        side : array of shape (n,), optional
            As in :meth:`AnswerSums.of`.
        d : array of shape (n,), optional
            Predicted differences, for the expectation of answers at the ends of the scale. Without them, it is the mean
            over all pairs.

        Returns
        -------
        target : array of shape (n,)
        precision : array of shape (n,)
            With mean 1 over the training answers; 0 for annotators with a reversed scale.
        """
        answers = np.asarray(c, dtype=np.float64)
        if self.model == "pooled":
            return answers, np.ones(len(answers))
        rows = self._rows(annotators)
        if self.is_censored:
            answers, _ = self.latent(answers, annotators, side, d)
        mean = self._scales
        square = np.append(self.scale**2 + self.scale_error**2, self.mean_scale**2 + self.scale_spread**2)
        target = (mean / square)[rows] * (answers - self._shift(rows, side))
        return target, self._precision(square)[rows]

    def latent(
        self, c: ArrayLike, annotators: ArrayLike, side: ArrayLike | None = None, d: ArrayLike | None = None
    ) -> tuple[RealArray, RealArray]:
        """Return mean and variance of the answers without the limits of the scale; parameters as in :meth:`adjusted`.

        Answers within the ends of the scale are returned unchanged, with the variance 0.
        """
        rows = self._rows(annotators)
        answers = np.asarray(c, dtype=np.float64)
        if d is not None:
            return latent_answers(answers, self._latent_means(rows, d, side), self._variances[rows])
        variance = self._variances + np.square(self._scales * self.difference_spread)
        return latent_answers(answers, self._shift(rows, side), variance[rows])

    def _latent_means(self, rows: NDArray[np.int64], d: ArrayLike, side: ArrayLike | None) -> RealArray:
        return self._scales[rows] * np.asarray(d, dtype=np.float64) + self._shift(rows, side)

    @property
    def _scales(self) -> RealArray:
        """The scales; the last entry is that of an average annotator."""
        return np.append(self.scale, self.mean_scale)

    @property
    def _variances(self) -> RealArray:
        """The variances of the noise; the last entry is that of an average annotator."""
        return np.append(self.noise**2, self.noise_prior.variance)

    def _precision(self, square: RealArray) -> RealArray:
        """Return the relative precision of the targets of each annotator, the last one an average annotator."""
        is_used = np.append(~self.is_reversed, True)
        precision = np.where(is_used, square / self._variances, 0.0)
        count = np.where(self.is_reversed, 0.0, self.count)
        total = count.sum()
        return precision * total / (precision[:-1] @ count) if total > 0 else precision

    def _shift(self, rows: NDArray[np.int64], side: ArrayLike | None) -> RealArray:
        if side is None or not self.has_side:
            return np.zeros(len(rows))
        return np.append(self.bias, 0.0)[rows] * np.asarray(side, dtype=np.float64)

    def _rows(self, annotators: ArrayLike) -> NDArray[np.int64]:
        """Return the row of each annotator; A for those without training answers."""
        codes = np.asarray(annotators, dtype=np.int64)
        rows = np.searchsorted(self.codes, codes).clip(max=len(self) - 1)
        return np.where(self.codes[rows] == codes, rows, len(self))

    @property
    def scale_interval(self) -> RealArray:
        """95 % intervals of the scales, (A, 2)."""
        return self._interval(self.scale, self.scale_error)

    @property
    def bias_interval(self) -> RealArray:
        """95 % intervals of the side biases, (A, 2)."""
        return self._interval(self.bias, self.bias_error)

    @property
    def noise_interval(self) -> RealArray:
        """95 % intervals of the standard deviations of the noise, (A, 2)."""
        freedom = self._freedom[:, None]
        quantiles = chi2.ppf([(1 + _LEVEL) / 2, (1 - _LEVEL) / 2], freedom)
        interval: RealArray = self.noise[:, None] * np.sqrt(freedom / quantiles)
        return interval

    @property
    def _freedom(self) -> RealArray:
        return self.count + self.noise_prior.answers

    def _interval(self, mean: RealArray, error: RealArray) -> RealArray:
        margin = t.ppf((1 + _LEVEL) / 2, self._freedom) * error
        return np.stack([mean - margin, mean + margin], axis=1)

    def named(self, names: Mapping[int, str] | None) -> "AnnotatorEstimates":
        """Return the same estimates with names of the annotators, given by code."""
        if names is None:
            return self
        return replace(self, names=tuple(str(names.get(int(code), code)) for code in self.codes))

    def anchored(self, common_scale: CommonScale, mean: float, error: float) -> "AnnotatorEstimates":
        """Return the estimates for another scale of an average annotator.

        Parameters
        ----------
        common_scale : str
            What determines it.
        mean, error : float
            The scale of an average annotator and its standard error, relative to the present one.
        """
        return replace(
            self,
            scale=self.scale * mean,
            scale_error=self.scale_error * mean,
            scale_spread=self.scale_spread * mean,
            difference_spread=self.difference_spread / mean,
            mean_scale=self.mean_scale * mean,
            mean_scale_error=self.mean_scale * error,
            common_scale=common_scale,
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the annotators, or their codes."""
        return self.names or tuple(str(code) for code in self.codes)

    @property
    def statement(self) -> str:
        """A sentence that says what determines the common scale."""
        if self.common_scale == "assumed":
            return "The common scale is assumed: the answers determine ratios of scales, and their mean is set to 1."
        margin = 2 * self.mean_scale_error
        interval = f"{self.mean_scale - margin:.2f} to {self.mean_scale + margin:.2f}"
        return (
            f"The common scale is determined by {self.common_scale}: an average annotator has the scale "
            f"{self.mean_scale:.2f} (95 % interval {interval})."
        )

    def remarks(self) -> tuple[str, ...]:
        """Return a remark on each annotator; mostly empty."""
        used = "used as it is" if self.model == "pooled" else "not used"
        reversed_scale = f"reversed scale; {used}"
        texts = np.where(self.is_reversed, reversed_scale, np.where(self.is_chance, "no better than chance", ""))
        return tuple(str(text) for text in texts)

    def table(self) -> list[dict[str, Any]]:
        """Return one record per annotator: name, answers, parameters with 95 % intervals, and a remark."""
        absent = [None] * len(self)
        columns: dict[str, Sequence[Any]] = {
            "annotator": self.labels,
            "n": [round(count) for count in self.count],
            "scale": self.scale.tolist(),
            "scale_interval": [tuple(ends) for ends in self.scale_interval.tolist()],
            "bias": self.bias.tolist() if self.has_side else absent,
            "bias_interval": [tuple(ends) for ends in self.bias_interval.tolist()] if self.has_side else absent,
            "noise": self.noise.tolist(),
            "noise_interval": [tuple(ends) for ends in self.noise_interval.tolist()],
            "remark": self.remarks(),
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_text(self) -> str:
        """Return the table of annotators as text."""
        lines = [f"{'annotator':16s}{'n':>7s}{'scale':>8s}{'95 % interval':>17s}{'bias':>8s}{'noise':>8s}  remark"]
        for row in self.table():
            low, high = row["scale_interval"]
            bias = "" if row["bias"] is None else f"{row['bias']:.2f}"
            interval = f"{low:.2f} to {high:.2f}"
            figures = f"{row['n']:7d}{row['scale']:8.2f}{interval:>17s}{bias:>8s}{row['noise']:8.2f}"
            lines.append(f"{row['annotator']:16.16s}{figures}  {row['remark']}".rstrip())
        return "\n".join([*lines, self.statement])

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates as values that JSON has."""
        values: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            values[field.name] = value.tolist() if isinstance(value, np.ndarray) else value
        prior = self.noise_prior
        values["noise_prior"] = {"variance": prior.variance, "answers": prior.answers}
        values["names"] = None if self.names is None else list(self.names)
        return values

    @classmethod
    def from_dict(cls, values: Any) -> "AnnotatorEstimates":
        """Return estimates from the values of :meth:`to_dict`.

        Raises
        ------
        ValueError
            A value is missing, or has another type or length.
        """
        try:
            return _parsed(values)
        except (TypeError, KeyError, OverflowError) as error:
            raise ValueError(f"these are not the estimates of annotators: {error!r:.100}") from error


_ARRAYS = ("count", "scale", "bias", "noise", "scale_error", "bias_error")
_FLAGS = ("is_reversed", "is_chance")
_NUMBERS = ("slope", "scale_spread", "bias_spread")
_LATER_NUMBERS = {"mean_scale": 1.0, "mean_scale_error": 0.0, "difference_spread": 0.0}  # older files do not have them


def _parsed(values: Any) -> AnnotatorEstimates:
    codes = np.array([int(code) for code in values["codes"]], dtype=np.int64)
    arrays: dict[str, Any] = {name: np.array([float(x) for x in values[name]]) for name in _ARRAYS}
    flags: dict[str, Any] = {name: np.array([bool(x) for x in values[name]], dtype=bool) for name in _FLAGS}
    names = None if values["names"] is None else tuple(str(name) for name in values["names"])
    lengths = {len(array) for array in (codes, *arrays.values(), *flags.values(), names or codes)}
    if lengths != {len(codes)} or not len(codes):
        raise ValueError(f"the estimates of annotators must have one entry each; got lengths {sorted(lengths)}.")
    if (np.diff(codes) <= 0).any():
        raise ValueError("the codes of annotators must be sorted, each once.")
    numbers: dict[str, Any] = {name: float(values[name]) for name in _NUMBERS}
    numbers |= {name: float(values.get(name, default)) for name, default in _LATER_NUMBERS.items()}
    finite = np.concatenate([*arrays.values(), list(numbers.values())])
    if not np.isfinite(finite).all() or (arrays["noise"] <= 0).any():
        raise ValueError("the estimates of annotators must be finite, and their noise above 0.")
    prior = NoisePrior(
        variance=float(values["noise_prior"]["variance"]), answers=float(values["noise_prior"]["answers"])
    )
    return AnnotatorEstimates(
        model=check_choice("model", values["model"], get_args(AnnotatorModel)),  # type: ignore[arg-type]
        codes=codes,
        **arrays,
        **flags,
        **numbers,
        noise_prior=prior,
        has_side=bool(values["has_side"]),
        is_censored=bool(values.get("is_censored", False)),
        common_scale=check_choice("common_scale", values["common_scale"], get_args(CommonScale)),  # type: ignore[arg-type]
        names=names,
    )
