"""The tables of a study, their version, and the steps from older versions."""

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
    text,
    update,
)

VERSION = 3
"""The version of the tables that this version of confdiff writes."""

metadata = MetaData()

_Key = BigInteger().with_variant(Integer, "sqlite")  # only INTEGER keys of SQLite count by themselves

studies = Table(
    "study",
    metadata,
    Column("id", Integer, primary_key=True),  # always 1
    Column("version", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("settings", Text, nullable=False),  # JSON
    Column("id_column", Text, nullable=False),
    Column("columns", Text, nullable=False),  # JSON: column -> type, with that of the ids
    Column("state", String(10), nullable=False),  # open | paused | closed
    Column("created_at", Double, nullable=False),  # all times are seconds since 1970, UTC
)

owner_tokens = Table(
    "owner_token",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("created_at", Double, nullable=False),
)

items = Table(
    "item",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, unique=True),
    Column("cells", Text, nullable=False),  # JSON: a list in the order of the columns
)

annotators = Table(
    "annotator",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("kind", String(10), nullable=False, server_default="person"),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("quota", Integer),
    Column("slot", Integer, unique=True),  # the part of the plan that is reserved for this annotator
    Column("revoked", Boolean, nullable=False),
    Column("training_done", Boolean, nullable=False),
    Column("last_at", Double),  # of the last answer
    Column("seen_at", Double),  # of the last request for a question
    Column("created_at", Double, nullable=False),
)

sessions = Table(
    "session",
    metadata,
    Column("secret_hash", String(64), primary_key=True),
    Column("annotator", _Key, ForeignKey("annotator.id"), nullable=False, index=True),
    Column("created_at", Double, nullable=False),
)

questions = Table(
    "question",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("position", Integer, nullable=False),  # the order of asking
    Column("slot", Integer, nullable=False),
    Column("left", Integer, ForeignKey("item.number"), nullable=False),
    Column("right", Integer, ForeignKey("item.number"), nullable=False),
    Column("pair", BigInteger, nullable=False),  # one number for both orders of the items
    Column("kind", String(20), nullable=False),
    Column("asks", String(10), nullable=False),  # difference | same
    Column("holder", _Key, ForeignKey("annotator.id")),
    Column("held_until", Double),
    Column("answered", Boolean, nullable=False),
    Index("question_order", "slot", "answered", "position"),
    Index("question_position", "answered", "position"),
    Index("question_holder", "holder"),
)

assignments = Table(
    "assignment",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("question", _Key, ForeignKey("question.id")),  # empty if another annotator got the question after the lease
    Column("annotator", _Key, ForeignKey("annotator.id"), nullable=False),
    Column("left", Integer, ForeignKey("item.number"), nullable=False),
    Column("right", Integer, ForeignKey("item.number"), nullable=False),
    Column("pair", BigInteger, nullable=False),
    Column("shown_left", Integer, ForeignKey("item.number"), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("asks", String(10), nullable=False),
    Column("shown_at", Double, nullable=False),
    Column("is_open", Boolean, nullable=False),
    Column("answered", Boolean, nullable=False),
    Index("assignment_pair", "annotator", "pair"),
    Index("assignment_state", "annotator", "answered", "is_open"),
    Index("assignment_question", "question"),
)

answers = Table(
    "answer",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("assignment", _Key, ForeignKey("assignment.id"), nullable=False),
    Column("client_id", String(64), unique=True),  # empty for an undo
    Column("grade", Double),  # on the screen: -1 left by far, 1 right by far
    Column("same", Double),
    Column("reason", Text),
    Column("note", Text),
    Column("seconds", Double),
    Column("is_undo", Boolean, nullable=False),
    Column("supersedes", _Key, ForeignKey("answer.id")),
    Column("at", Double, nullable=False),
    UniqueConstraint("supersedes", name="answer_superseded_once"),
    Index("answer_assignment", "assignment"),
    Index(
        "answer_first_of_assignment",
        "assignment",
        unique=True,
        sqlite_where=text("supersedes IS NULL"),
        postgresql_where=text("supersedes IS NULL"),
    ),
)

judges = Table(
    "judge",
    metadata,
    Column("annotator", _Key, ForeignKey("annotator.id"), primary_key=True, autoincrement=False),
    Column("model", Text, nullable=False),
    Column("template", Text, nullable=False),
)

judge_requests = Table(
    "judge_request",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("annotator", _Key, ForeignKey("annotator.id"), nullable=False, index=True),
    Column("assignment", _Key, ForeignKey("assignment.id"), nullable=False, index=True),
    Column("sent_at", Double, nullable=False),
    Column("tokens", Integer, nullable=False),  # those reserved, and after the reply those used
    Column("outcome", String(20)),  # "answer" or the kind of a fault; empty until the reply is stored
    Column("status", Integer),  # of HTTP
    Column("reply", Text),  # as it was received, without the key
)


def has_study(connection: Connection, schema: str | None) -> bool:
    """Return whether the tables of a study exist."""
    return inspect(connection).has_table("study", schema=schema) and inspect(connection).has_table(
        "assignment", schema=schema
    )


def version_of(connection: Connection) -> int:
    """Return the version of the tables of a study."""
    return int(connection.execute(select(studies.c.version)).scalar_one())


def check_version(address: str, version: int) -> None:
    """Refuse a study that a later version of confdiff wrote."""
    if version > VERSION:
        raise ValueError(
            f"the study {address} was written by a later version of confdiff (tables {version}, this version reads up "
            f"to {VERSION}). Update confdiff."
        )


def upgrade(connection: Connection, schema: str | None) -> None:
    """Bring the tables of an older version to this one, inside the transaction of the connection."""
    for version in range(version_of(connection), VERSION):
        _STEPS[version](connection, "" if schema is None else f'"{schema}".')
        connection.execute(update(studies).values(version=version + 1))


def _from_1(connection: Connection, prefix: str) -> None:
    """Add the kind of annotators, the note of answers, several tokens of the owner, and indexes."""
    run = connection.exec_driver_sql
    run(f"ALTER TABLE {prefix}annotator ADD COLUMN kind VARCHAR(10) NOT NULL DEFAULT 'person'")
    run(f"ALTER TABLE {prefix}answer ADD COLUMN note TEXT")
    owner_tokens.create(connection)
    run(
        f"INSERT INTO {prefix}owner_token (token_hash, created_at) "
        f"SELECT owner_hash, created_at FROM {prefix}study WHERE owner_hash IS NOT NULL"
    )
    run(f"ALTER TABLE {prefix}study DROP COLUMN owner_hash")
    for table in (studies, items, annotators, sessions, questions, assignments, answers):
        for index in table.indexes:
            index.create(connection, checkfirst=True)


def _from_2(connection: Connection, prefix: str) -> None:
    """Add the tables of LLM judges: their models and templates, and their requests with the raw replies."""
    judges.create(connection)
    judge_requests.create(connection)


_STEPS: dict[int, Callable[[Connection, str], None]] = {1: _from_1, 2: _from_2}
