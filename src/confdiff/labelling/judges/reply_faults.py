"""The kinds of faults of an endpoint and of replies: one table."""

from dataclasses import dataclass

ANSWERED = "answer"
"""The outcome of a request whose reply is an answer, "cannot say" included."""


@dataclass(frozen=True)
class ReplyFault:
    """A kind of fault.

    Attributes
    ----------
    code : str
        Its name in the database.
    words : str
        What happened, for people.
    attempts : int
        How often a question may be asked in one run if it ends in such faults; 1 is not asked again.
    is_charged : bool
        Whether the tokens that were reserved count as used where the reply does not state them.
    """

    code: str
    words: str
    attempts: int = 8
    is_charged: bool = True

    @property
    def is_retried(self) -> bool:
        """Whether a question is asked again after a pause."""
        return self.attempts > 1


_REPLIES = 5  # attempts where the endpoint answered, which costs tokens

_TABLE = (
    ReplyFault("rate-limit", "too many requests (429)", is_charged=False),
    ReplyFault("server-error", "errors of the server (5xx)"),
    ReplyFault("time-out", "no reply in time"),
    ReplyFault("connection", "lost connections"),
    ReplyFault("malformed", "malformed replies", attempts=_REPLIES),
    ReplyFault("truncated", "truncated replies, for which reply_tokens=... may be too small", attempts=_REPLIES),
    ReplyFault("wrong-grade", "answers that are not on the scale", attempts=_REPLIES),
    ReplyFault("refusal", "refusals by the model, stored as cannot say", attempts=1),
    ReplyFault("bad-request", "requests that the endpoint refused (4xx)", attempts=1, is_charged=False),
)

FAULTS = {fault.code: fault for fault in _TABLE}
"""Code -> kind of fault."""
