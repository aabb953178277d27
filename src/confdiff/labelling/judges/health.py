"""Notice that an endpoint cannot be used, instead of asking it again and again."""

from confdiff.labelling.judges.endpoint import HttpReply
from confdiff.labelling.judges.reply_faults import ANSWERED, FAULTS

_LONGEST_WAIT = 600.0  # seconds for which an endpoint may ask
_FAILURES_AT_START = 4  # after which an endpoint that never answered is given up
_FAILURES_IN_A_ROW = 50
_UNUSABLE = {
    401: "refuses the API key; pass key='...' to name its environment variable",
    402: "asks for a payment",
    403: "refuses access",
    404: "has no such address (most end in /v1) or no such model",
}
_QUOTA_USED = "insufficient_quota"  # which no waiting changes


class EndpointHealth:
    """Failures in a row of an endpoint.

    Parameters
    ----------
    base_url : str
        Its address, for messages.
    concurrency : int
        Number of requests at the same time, which may all fail for one reason.
    """

    def __init__(self, base_url: str, concurrency: int) -> None:
        self._base_url = base_url
        self._most_failures = max(_FAILURES_IN_A_ROW, 2 * concurrency)
        self._failures = 0
        self._has_answered = False

    def problem(self, outcome: str, reply: HttpReply) -> str:
        """Return why the endpoint cannot be used, after one more reply; empty if it can."""
        is_failure = outcome in FAULTS and FAULTS[outcome].is_retried
        self._failures = self._failures + 1 if is_failure else 0
        self._has_answered |= outcome in (ANSWERED, "refusal")
        reason = self._reason(outcome, reply)
        if not reason:
            return ""
        return f"the endpoint {self._base_url} {reason}.{quoted(reply)}"

    def _reason(self, outcome: str, reply: HttpReply) -> str:
        if reply.status is not None and 300 <= reply.status < 400:
            return f"redirects (status {reply.status}); pass the address that it names"
        if reply.status in _UNUSABLE:
            return f"{_UNUSABLE[reply.status]} (status {reply.status})"
        if outcome == "rate-limit" and _QUOTA_USED in reply.text:
            return "refuses further requests, because the quota of the account is used up"
        if outcome != ANSWERED and reply.retry_after is not None and reply.retry_after > _LONGEST_WAIT:
            return f"asks to wait {reply.retry_after:,.0f} seconds; run again later"
        is_starting = not self._has_answered and outcome != "rate-limit"
        if self._failures >= (_FAILURES_AT_START if is_starting else self._most_failures):
            return f"gave no answer to {self._failures} requests in a row ({FAULTS[outcome].words})"
        return ""


def quoted(reply: HttpReply) -> str:
    """Return a sentence with the message of an endpoint, or with what happened to the connection."""
    message = reply.message.rstrip(".")
    if not message:
        return ""
    return f" It replied: {message}." if reply.status is not None else f" The connection: {message}."
