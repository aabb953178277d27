"""A study with the tables of version 2 of the schema: those of version 1 after the changes that version 2 made."""

from labelling.schema_1 import statements as statements_of_1

CHANGES = """
ALTER TABLE annotator ADD COLUMN kind VARCHAR(10) NOT NULL DEFAULT 'person';
ALTER TABLE answer ADD COLUMN note TEXT;
CREATE TABLE owner_token (id {KEY}, token_hash VARCHAR(64) NOT NULL UNIQUE, created_at DOUBLE PRECISION NOT NULL);
INSERT INTO owner_token (token_hash, created_at) SELECT owner_hash, created_at FROM study;
ALTER TABLE study DROP COLUMN owner_hash;
CREATE INDEX question_order ON question (slot, answered, position);
CREATE INDEX question_position ON question (answered, position);
CREATE INDEX question_holder ON question (holder);
CREATE INDEX assignment_pair ON assignment (annotator, pair);
CREATE INDEX assignment_state ON assignment (annotator, answered, is_open);
CREATE INDEX assignment_question ON assignment (question);
CREATE INDEX answer_assignment ON answer (assignment);
CREATE INDEX ix_session_annotator ON session (annotator);
UPDATE study SET version = 2
"""


def statements(digest, *, key):
    """Return the SQL statements of a study of version 2; ``key`` is the type of a primary key that counts."""
    return [*statements_of_1(digest, key=key), *(text.strip() for text in CHANGES.replace("{KEY}", key).split(";\n"))]
