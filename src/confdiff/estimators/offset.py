"""The offset of probabilities: report whether differences determined it, or leave an interval of class priors open."""

from numpy.typing import ArrayLike

from confdiff.prior import PriorInterval, is_narrow, open_interval, warn_of_open_prior


class OffsetReported:
    """Add to a classifier whether its offset, and so its decisions, are determined.

    Attributes
    ----------
    prior_interval_ : tuple (low, high) or None
        The class priors that the data leave open; for K classes a tuple of K such tuples. ``None`` if the prior was
        given, or if labels determined it.
    is_offset_determined_ : bool
        Whether decisions follow from the data. Otherwise scores and ranks do, and probabilities may be off by a
        constant.
    """

    prior_interval_: PriorInterval | None

    @property
    def is_offset_determined_(self) -> bool:
        """Whether the prior was given or the data determine it, so that decisions follow."""
        return self.prior_interval_ is None or is_narrow(self.prior_interval_)

    def _report_offset(
        self,
        predicted: ArrayLike,
        differences: ArrayLike,
        probabilities: ArrayLike,
        weight: ArrayLike | None = None,
    ) -> None:
        """Set ``prior_interval_`` from predictions without a given prior (:func:`open_interval`), and warn once."""
        self.prior_interval_ = open_interval(predicted, differences, probabilities, weight)
        if not self.is_offset_determined_:
            warn_of_open_prior(self.prior_interval_)
