"""The budget of a judge in requests and tokens, which is never exceeded: tokens are reserved before sending."""

from dataclasses import dataclass


@dataclass
class JudgeBudget:
    """What a judge may use, and has used in all runs.

    Attributes
    ----------
    max_requests, max_tokens : int or None
        The limits; None for unlimited.
    requests, tokens : int
        Requests and tokens so far, including tokens reserved for requests without a reply yet.

    Examples
    --------
    >>> budget = JudgeBudget(max_requests=2, max_tokens=100, requests=0, tokens=0)
    >>> budget.reserve(80), budget.fits(40)
    (None, False)
    >>> budget.settle(reserved=80, used=30)
    >>> budget.fits(40), budget.requests, budget.tokens
    (True, 1, 30)
    """

    max_requests: int | None
    max_tokens: int | None
    requests: int
    tokens: int

    @property
    def has_requests(self) -> bool:
        """Whether another request may be sent."""
        return self.max_requests is None or self.requests < self.max_requests

    def fits(self, tokens: int) -> bool:
        """Return whether tokens may be reserved."""
        return self.max_tokens is None or self.tokens + tokens <= self.max_tokens

    def reserve(self, tokens: int) -> None:
        """Count a request, and the most tokens that it may use."""
        self.requests += 1
        self.tokens += tokens

    def settle(self, *, reserved: int, used: int) -> None:
        """Replace reserved tokens by those that were used."""
        self.tokens += used - reserved

    def exhausted(self) -> str:
        """Return which limit is reached, for people."""
        if not self.has_requests:
            return f"the budget of {self.max_requests:,} requests is used up (max_requests={self.max_requests})"
        return (
            f"the budget of {self.max_tokens:,} tokens has no room for another request; {self.tokens:,} are used "
            f"(max_tokens={self.max_tokens})"
        )
