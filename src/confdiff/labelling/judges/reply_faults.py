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
    is_retried : bool
        Whether the question is asked again after a pause.
    is_charged : bool
        Whether the tokens that were reserved count as used where the reply does not state them.
    """

    code: str
    words: str
    is_retried: bool = True
    is_charged: bool = True


_TABLE = (
    ReplyFault("rate-limit", "too many requests (429)", is_charged=False),
    ReplyFault("server-error", "errors of the server (5xx)"),
    ReplyFault("time-out", "no reply in time"),
    ReplyFault("connection", "lost connections"),
    ReplyFault("malformed", "malformed replies"),
    ReplyFault("truncated", "truncated replies"),
    ReplyFault("wrong-grade", "answers that are not on the scale"),
    ReplyFault("refusal", "refusals by the model, stored as cannot say", is_retried=False),
    ReplyFault("bad-request", "requests that the endpoint refused (4xx)", is_retried=False, is_charged=False),
)

FAULTS = {fault.code: fault for fault in _TABLE}
"""Code -> kind of fault."""
