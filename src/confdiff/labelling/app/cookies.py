"""The cookies of annotators and of owners: invisible to scripts, and never sent by another site."""

import hashlib
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

Role = Literal["annotator", "owner"]

_MAX_AGE = 60 * 60 * 24 * 90


def cookie_name(role: Role, study: str, *, secure: bool) -> str:
    """Return the name of the cookie of a role in a study.

    Browsers do not separate cookies by port, so two servers on one machine need two names.

    >>> cookie_name("annotator", "essays", secure=False)
    'confdiff-annotator-beef0ddb'
    """
    digest = hashlib.sha256(study.encode()).hexdigest()[:8]
    return f"{'__Host-' if secure else ''}confdiff-{role}-{digest}"


def set_cookie(response: "Response", name: str, value: str, *, secure: bool) -> None:
    """Set a cookie that scripts cannot read and that other sites cannot send."""
    response.set_cookie(name, value, max_age=_MAX_AGE, path="/", httponly=True, samesite="strict", secure=secure)


def cookie_of(request: "Request", name: str) -> str | None:
    """Return the value of a cookie, None if the request has none or an impossible one."""
    value = request.cookies.get(name)
    return value if value and len(value) <= 200 and value.isascii() and value.isprintable() else None
