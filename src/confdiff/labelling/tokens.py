"""Tokens of links and secrets of sessions, of which only the SHA-256 is stored."""

import hashlib
import secrets
import time
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from confdiff.labelling.schema import annotators, owner_tokens, sessions

_TOKEN_BYTES = 24
_MOST_OWNER_TOKENS = 1_000


def digest(token: str) -> str:
    """Return the SHA-256 of a token, which is all that is stored of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """Return a random token of 192 bits."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def add_owner_token(connection: Connection, *, renew: bool) -> str:
    """Store a new token of the owner; with ``renew`` all earlier ones end."""
    token = new_token()
    if renew:
        connection.execute(delete(owner_tokens))
    connection.execute(insert(owner_tokens).values(token_hash=digest(token), created_at=time.time()))
    newest = select(owner_tokens.c.id).order_by(owner_tokens.c.id.desc()).limit(_MOST_OWNER_TOKENS)
    connection.execute(delete(owner_tokens).where(owner_tokens.c.id.not_in(newest.scalar_subquery())))
    return token


def has_owner_token(connection: Connection, token: str) -> bool:
    """Return whether a token is one of the owner's."""
    found = connection.execute(select(owner_tokens.c.id).where(owner_tokens.c.token_hash == digest(token)))
    return found.first() is not None


def add_session(connection: Connection, token: str) -> str | None:
    """Return a new secret for a cookie in exchange for the token of a link; None if that is not valid."""
    found = select(annotators.c.id).where(annotators.c.token_hash == digest(token), annotators.c.revoked.is_(False))
    annotator = connection.execute(found.with_for_update(read=True)).scalar()  # against a new link at the same time
    if annotator is None:
        return None
    secret = new_token()
    connection.execute(insert(sessions).values(secret_hash=digest(secret), annotator=annotator, created_at=time.time()))
    return secret


def row_of_session(connection: Connection, secret: str) -> Row[Any] | None:
    """Return the annotator of a session; None if it is unknown or the annotator was revoked."""
    query = (
        select(annotators)
        .join(sessions, sessions.c.annotator == annotators.c.id)
        .where(sessions.c.secret_hash == digest(secret), annotators.c.revoked.is_(False))
    )
    return connection.execute(query).first()
