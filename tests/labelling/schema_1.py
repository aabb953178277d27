"""The tables of version 1 of the schema, as SQL that SQLite and PostgreSQL read, and a small study in them."""

TABLES = """
CREATE TABLE study (id INTEGER NOT NULL PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL,
    settings TEXT NOT NULL, id_column TEXT NOT NULL, columns TEXT NOT NULL, state VARCHAR(10) NOT NULL,
    created_at DOUBLE PRECISION NOT NULL, owner_hash VARCHAR(64));
CREATE TABLE item (number INTEGER NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, cells TEXT NOT NULL);
CREATE TABLE annotator (id {KEY}, name TEXT NOT NULL UNIQUE, token_hash VARCHAR(64) NOT NULL UNIQUE, quota INTEGER,
    slot INTEGER UNIQUE, revoked BOOLEAN NOT NULL, training_done BOOLEAN NOT NULL, last_at DOUBLE PRECISION,
    seen_at DOUBLE PRECISION, created_at DOUBLE PRECISION NOT NULL);
CREATE TABLE session (secret_hash VARCHAR(64) NOT NULL PRIMARY KEY,
    annotator BIGINT NOT NULL REFERENCES annotator (id), created_at DOUBLE PRECISION NOT NULL);
CREATE TABLE question (id {KEY}, position INTEGER NOT NULL, slot INTEGER NOT NULL,
    "left" INTEGER NOT NULL REFERENCES item (number), "right" INTEGER NOT NULL REFERENCES item (number),
    pair BIGINT NOT NULL, kind VARCHAR(20) NOT NULL, asks VARCHAR(10) NOT NULL,
    holder BIGINT REFERENCES annotator (id), held_until DOUBLE PRECISION, answered BOOLEAN NOT NULL);
CREATE TABLE assignment (id {KEY}, question BIGINT REFERENCES question (id),
    annotator BIGINT NOT NULL REFERENCES annotator (id), "left" INTEGER NOT NULL REFERENCES item (number),
    "right" INTEGER NOT NULL REFERENCES item (number), pair BIGINT NOT NULL,
    shown_left INTEGER NOT NULL REFERENCES item (number), kind VARCHAR(20) NOT NULL, asks VARCHAR(10) NOT NULL,
    shown_at DOUBLE PRECISION NOT NULL, is_open BOOLEAN NOT NULL, answered BOOLEAN NOT NULL);
CREATE TABLE answer (id {KEY}, assignment BIGINT NOT NULL REFERENCES assignment (id), client_id VARCHAR(64) UNIQUE,
    grade DOUBLE PRECISION, same DOUBLE PRECISION, reason TEXT, seconds DOUBLE PRECISION, is_undo BOOLEAN NOT NULL,
    supersedes BIGINT UNIQUE REFERENCES answer (id), at DOUBLE PRECISION NOT NULL);
CREATE UNIQUE INDEX answer_first_of_assignment ON answer (assignment) WHERE supersedes IS NULL
"""

OWNER = "owner-token-of-version-1"
TOKEN = "token-of-ann-in-version-1"
ROWS = """
INSERT INTO study VALUES (1, 1, 'animals', '{"question": "Which is larger?", "judges": 1}', 'id',
    '{"id": "text", "text": "text"}', 'open', 1700000000.0, '{OWNER}');
INSERT INTO item VALUES (0, 'cow', '["A cow"]');
INSERT INTO item VALUES (1, 'dog', '["A dog"]');
INSERT INTO item VALUES (2, 'elk', '["An elk"]');
INSERT INTO annotator (name, token_hash, quota, slot, revoked, training_done, last_at, seen_at, created_at)
    VALUES ('Ann', '{TOKEN}', NULL, 0, FALSE, TRUE, 1700000100.0, 1700000100.0, 1700000000.0);
INSERT INTO question (position, slot, "left", "right", pair, kind, asks, holder, held_until, answered)
    VALUES (0, 0, 1, 0, 1, 'design', 'difference', 1, 1700000900.0, TRUE);
INSERT INTO question (position, slot, "left", "right", pair, kind, asks, holder, held_until, answered)
    VALUES (1, 0, 1, 2, 5, 'design', 'difference', NULL, NULL, FALSE);
INSERT INTO assignment (question, annotator, "left", "right", pair, shown_left, kind, asks, shown_at, is_open, answered)
    VALUES (1, 1, 1, 0, 1, 0, 'design', 'difference', 1700000050.0, FALSE, TRUE);
INSERT INTO answer (assignment, client_id, grade, same, reason, seconds, is_undo, supersedes, at)
    VALUES (1, '11111111-1111-4111-8111-111111111111', -1.0, NULL, NULL, 3.5, FALSE, NULL, 1700000060.0);
INSERT INTO answer (assignment, client_id, grade, same, reason, seconds, is_undo, supersedes, at)
    VALUES (1, NULL, NULL, NULL, NULL, NULL, TRUE, 1, 1700000070.0);
INSERT INTO answer (assignment, client_id, grade, same, reason, seconds, is_undo, supersedes, at)
    VALUES (1, '22222222-2222-4222-8222-222222222222', 1.0, NULL, NULL, 2.5, FALSE, 2, 1700000100.0)
"""


def statements(digest, *, key):
    """Return the SQL statements of a study of version 1; ``key`` is the type of a primary key that counts."""
    rows = ROWS.replace("{OWNER}", digest(OWNER)).replace("{TOKEN}", digest(TOKEN))
    return [text.strip() for text in (TABLES.replace("{KEY}", key).rstrip() + ";" + rows).split(";\n")]
