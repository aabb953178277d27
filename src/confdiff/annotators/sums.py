"""Sums per annotator: all that the model of annotators needs to know of the answers."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

RealArray = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AnswerSums:
    """Weighted sums over the answers of each annotator, which can be added over parts of the data.

    Each array has one entry per annotator. Here d is the predicted difference of an answer, c the given one, and z the
    side: +1 if the first item was shown first, -1 if the second was, 0 if that is not known.

    Attributes
    ----------
    codes : array of int64, shape (A,)
        The annotators, sorted.
    count : array of shape (A,)
        The number of answers with a weight above 0.
    weight : array of shape (A,)
        The sum of the weights.
    dd, dz, zz, dc, zc, cc : arrays of shape (A,)
        Weighted sums of products.
    """

    codes: Codes
    count: RealArray
    weight: RealArray
    dd: RealArray
    dz: RealArray
    zz: RealArray
    dc: RealArray
    zc: RealArray
    cc: RealArray

    @classmethod
    def of(
        cls,
        d: ArrayLike,
        c: ArrayLike,
        annotators: ArrayLike,
        *,
        side: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        variance: ArrayLike | None = None,
    ) -> "AnswerSums":
        """Return the sums of answers.

        Parameters
        ----------
        d, c : arrays of shape (n,)
            Predicted differences, of models that were not fitted to these answers, and given differences.
        annotators : array of int, shape (n,)
            Who gave each answer.
        side : array of shape (n,), optional
            Which item was shown first: +1 the first one, -1 the second one, 0 not known.
        weight : array of shape (n,), optional
            Weights of the answers.
        variance : array of shape (n,), optional
            Variance of answers that are expectations, see :mod:`confdiff.annotators.censoring`.

        Examples
        --------
        >>> AnswerSums.of(d=[0.5, 1.0, 0.5], c=[0.5, 0.5, 0.0], annotators=[7, 7, 3]).dc
        array([0.  , 0.75])
        """
        codes, row = np.unique(np.asarray(annotators, dtype=np.int64), return_inverse=True)
        d = np.asarray(d, dtype=np.float64)
        c = np.asarray(c, dtype=np.float64)
        z = None if side is None else np.asarray(side, dtype=np.float64)
        w = np.ones(len(c)) if weight is None else np.asarray(weight, dtype=np.float64)
        absent = np.zeros(len(codes))
        square = c * c if variance is None else c * c + np.asarray(variance, dtype=np.float64)

        def total(values: RealArray) -> RealArray:
            sums: RealArray = np.bincount(row, weights=values, minlength=len(codes)).astype(np.float64)
            return sums

        return cls(
            codes=codes,
            count=total((w > 0).astype(np.float64)),
            weight=total(w),
            dd=total(w * d * d),
            dz=absent if z is None else total(w * d * z),
            zz=absent if z is None else total(w * z * z),
            dc=total(w * d * c),
            zc=absent if z is None else total(w * z * c),
            cc=total(w * square),
        )

    def merge(self, other: "AnswerSums") -> "AnswerSums":
        """Return the sums of both sets of answers, for the annotators of either.

        >>> first = AnswerSums.of([1.0], [0.5], [0])
        >>> first.merge(AnswerSums.of([1.0, 1.0], [0.5, 1.0], [0, 2])).cc
        array([0.5, 1. ])
        """
        codes = np.union1d(self.codes, other.codes)
        parts = (self.of_annotators(codes), other.of_annotators(codes))
        sums = {name: getattr(parts[0], name) + getattr(parts[1], name) for name in _SUMS}
        return AnswerSums(codes=codes, **sums)

    def of_annotators(self, codes: Codes) -> "AnswerSums":
        """Return the sums of these annotators, in this order; 0 for those without an answer."""
        rows = np.searchsorted(self.codes, codes).clip(max=len(self.codes) - 1)
        is_present = self.codes[rows] == codes
        sums = {name: np.where(is_present, getattr(self, name)[rows], 0.0) for name in _SUMS}
        return AnswerSums(codes=np.asarray(codes, dtype=np.int64), **sums)

    def normalised(self) -> "AnswerSums":
        """Return the sums for weights with mean 1, so that ``weight`` counts answers."""
        total = self.weight.sum()
        factor = self.count.sum() / total if total > 0 else 1.0
        sums = {name: getattr(self, name) * factor for name in _SUMS if name != "count"}
        return AnswerSums(codes=self.codes, count=self.count, **sums)

    @property
    def has_side(self) -> bool:
        """Whether the side is known for some answers."""
        return bool(self.zz.any())


_SUMS = tuple(field.name for field in fields(AnswerSums) if field.name != "codes")
