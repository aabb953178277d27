"""Studies: create one from items and settings, open it, and use it from several threads."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, select, update
from sqlalchemy.exc import IntegrityError

from confdiff.labelling import annotators as people
from confdiff.labelling import tokens
from confdiff.labelling.addresses import Database, StudyUnavailable
from confdiff.labelling.annotators import Annotator, AnnotatorProgress, Invitation, State
from confdiff.labelling.answering import Answer, Stored, store_answer, undo_last
from confdiff.labelling.assigning import Assignment, assign, was_asked_about
from confdiff.labelling.backup import backup_study
from confdiff.labelling.export import (
    answer_columns,
    export_tables,
    id_type_of,
    is_judged,
    pair_columns,
    reply_columns,
    select_rows,
)
from confdiff.labelling.opening import create_database, open_database
from confdiff.labelling.planning import Choice, read_plan, replace_free_questions, replace_questions
from confdiff.labelling.recognising import Address
from confdiff.labelling.schema import annotators, studies
from confdiff.labelling.settings import StudySettings
from confdiff.labelling.stored_items import column_types, item_cells, item_names, read_columns
from confdiff.labelling.turns import Turn, take_turn
from confdiff.tabular.tables import Columns

if TYPE_CHECKING:
    from confdiff.labelling.design import PlannedQuestion

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_MOST_ATTEMPTS = 10
_CACHED_ITEMS = 4096


def create_study(address: Address, items: Any, settings: StudySettings) -> "Study":
    """Create a study, completely or not at all.

    Parameters
    ----------
    address : str or path
        The path of a new file, or ``postgresql://user@host/database?study=NAME``.
    items : ItemTable, path, data frame or mapping
        The items, with unique ids.
    settings : StudySettings
        The question, the scale, and how pairs are chosen.

    Raises
    ------
    ValueError
        If the items or the settings cannot be used.
    FileExistsError
        If the study already exists.

    Examples
    --------
    >>> import tempfile
    >>> items = {"id": ["a", "b", "c"], "text": ["A cow", "Two cows", "Three cows"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = create_study(f"{folder}/cows.db", items, StudySettings(question="Which is funnier?"))
    ...     invitation = study.invite("Ann")
    ...     assignment = study.next_assignment("Ann")
    ...     study.close_connections()
    >>> assignment.question
    'difference'
    """
    return Study(create_database(address, items, settings))


def open_study(address: Address) -> "Study":
    """Open a study; tables of an older version are upgraded, after a copy next to the file.

    Raises
    ------
    FileNotFoundError
        If the study does not exist.
    ValueError
        If the address is not that of a study, or a later version wrote it.
    """
    return Study(open_database(address))


class Study:
    """A study in its database. Every method uses its own short transaction, from any thread.

    Attributes
    ----------
    address : str
        The address, without a password.
    name : str
        Name for the addresses of pages.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.address = database.address
        self.name = database.name
        self._item = lru_cache(maxsize=_CACHED_ITEMS)(self._read_item)

    @cached_property
    def settings(self) -> StudySettings:
        """The settings, with the kind of every column."""
        with self._database.reading() as connection:
            return StudySettings.from_json(connection.execute(select(studies.c.settings)).scalar_one())

    @cached_property
    def id_column(self) -> str:
        """The column of ids."""
        with self._database.reading() as connection:
            return str(connection.execute(select(studies.c.id_column)).scalar_one())

    @cached_property
    def columns(self) -> dict[str, str]:
        """The columns of the items and their types, with that of the ids first."""
        with self._database.reading() as connection:
            return column_types(connection)

    @property
    def database(self) -> Database:
        """The database, for the parts of this package that have tables of their own."""
        return self._database

    # The owner

    def owner_token(self, *, renew: bool = False) -> str:
        """Return a new token of the owner; earlier ones remain valid unless ``renew`` is true."""
        return self._write(tokens.add_owner_token, renew=renew)

    def is_owner(self, token: str) -> bool:
        """Return whether a token is one of the owner's."""
        return self._read(tokens.has_owner_token, token)

    def invite(self, name: str, *, quota: int | None = None, kind: str = "person") -> Invitation:
        """Add an annotator, and return the token of the link; a further invitation replaces the link."""
        return self._write(people.add_annotator, name, quota=quota, kind=kind)

    def revoke(self, name: str) -> None:
        """End the link of an annotator; the answers remain."""
        self._write(people.revoke_annotator, name)

    def set_quota(self, name: str, quota: int | None) -> None:
        """Set how many answers an annotator may give; None is the default of the study."""
        self._write(people.change_quota, name, quota)

    def delete_annotator(self, name: str) -> int:
        """Delete all data of an annotator, and return the number of deleted answers; their questions become free."""
        count = self._write(people.remove_annotator, name)
        self._database.remove_traces()
        return count

    def annotators(self) -> list[Annotator]:
        """Return all annotators, in the order of their invitations."""
        settings = self.settings  # read before, because a transaction must not wait for another connection
        with self._database.reading() as connection:
            rows = connection.execute(select(annotators).order_by(annotators.c.id)).all()
            return [people.as_annotator(connection, settings, row) for row in rows]

    # An annotator

    def exchange(self, token: str) -> str | None:
        """Return a new session secret for the token of a link; None if the token is unknown or revoked."""
        return self._write(tokens.add_session, token)

    def annotator_of(self, session: str) -> Annotator | None:
        """Return the annotator of a session secret; None if it is unknown or revoked."""
        settings = self.settings
        with self._database.reading() as connection:
            row = tokens.row_of_session(connection, session)
            return None if row is None else people.as_annotator(connection, settings, row)

    def finish_training(self, annotator: str) -> None:
        """Record that an annotator finished the training round."""
        self._write(people.mark_trained, annotator)

    def next_assignment(self, annotator: str) -> Assignment | None:
        """Return the open assignment of an annotator, or a new one; None if there is none, see ``state``."""
        return self._write(assign, self.settings, annotator)

    def is_shown(self, annotator: str, item: int) -> bool:
        """Return whether an item is in a question that an annotator was asked, or in the training round."""
        return item in self._example_items or self._read(was_asked_about, annotator, item)

    @cached_property
    def _example_items(self) -> frozenset[int]:
        if not self.settings.examples:
            return frozenset()
        names = {name for left, right, _ in self.settings.examples for name in (left, right)}
        return frozenset(number for number, name in enumerate(self.item_ids()) if name in names)

    def answer(self, annotator: str, answer: Answer) -> Stored:
        """Store an answer once, however often it is sent.

        Raises
        ------
        AnswerRefused
            If it is not valid, or the annotator may not give it.
        """
        return self._write(store_answer, self.settings, annotator, answer)

    def answer_and_next(self, annotator: str, answer: Answer) -> Turn:
        """Store an answer as :meth:`answer` does, and return what follows, in one transaction instead of several."""
        return self._write(take_turn, self.settings, annotator, answer)

    def undo(self, annotator: str) -> Assignment | None:
        """Take the last answer of an annotator back, and return its assignment, to be answered again."""
        return self._write(undo_last, self.settings, annotator)

    def progress(self, annotator: str) -> AnnotatorProgress:
        """Return the progress of an annotator."""
        settings = self.settings
        with self._database.reading() as connection:
            return people.progress_of(connection, settings, people.required_row(connection, annotator))

    # The state

    @property
    def state(self) -> State:
        """Whether the study is open, paused or closed."""
        return self._read(people.state_of)

    def pause(self) -> None:
        """Ask no questions until the study is resumed."""
        self._set_state("paused")

    def resume(self) -> None:
        """Ask questions again, also after closing."""
        self._set_state("open")

    def close(self) -> None:
        """Ask no questions, and accept no answers."""
        self._set_state("closed")

    def _set_state(self, state: State) -> None:
        with self._database.writing() as connection:
            connection.execute(update(studies).values(state=state))

    # Items and questions

    def item(self, number: int) -> Mapping[str, Any]:
        """Return the values of an item by column, with its id."""
        return self._item(number)

    def _read_item(self, number: int) -> Mapping[str, Any]:
        return self._read(item_cells, number)

    def item_ids(self) -> list[str]:
        """Return the ids of all items as text, in their order."""
        return self._read(item_names)

    def plan(self) -> "list[PlannedQuestion]":
        """Return all planned questions."""
        return self._read(read_plan)

    def replan(self, questions: "Iterable[PlannedQuestion]") -> None:
        """Replace the planned questions that nobody was assigned yet."""
        self._write(replace_questions, list(questions))

    def replan_free(self, choose: Choice) -> None:
        """Replace the planned questions that nobody was assigned yet by a choice, in one transaction.

        Parameters
        ----------
        choose : callable
            ``(asked, free) -> questions``: from the questions that somebody was asked, and those that nobody was asked,
            the questions that replace the latter.
        """
        self._write(replace_free_questions, choose)

    # Data out

    def answers(self, *, superseded: bool = False) -> Columns:
        """Return the answers as columns, in the order in which they were given; ids are texts.

        Answers that could not say have neither a difference nor a same-class answer. With ``superseded``, those that
        were taken back are included, and a column says which.
        """
        return self._read(answer_columns, superseded=superseded)

    def items(self) -> Columns:
        """Return the items as columns of their types, the ids first."""
        return self._read(read_columns)

    def pairs(self) -> Columns:
        """Return the answers with a difference or a same-class answer, as the columns of a table of pairs."""
        with self._database.reading() as connection:
            columns = answer_columns(connection)
            return pair_columns(select_rows(columns, is_judged(columns)), id_type_of(connection))

    def export(
        self,
        folder: str | Path,
        *,
        format: str = "csv",
        superseded: bool = False,
        escape: bool = True,
        overwrite: bool = False,
    ) -> list[Path]:
        """Write the tables ``items`` and ``pairs`` to a folder, and return their paths.

        Parameters
        ----------
        folder : path
            The folder, which is created if it is missing.
        format : {"csv", "parquet", "jsonl"}
            The format.
        superseded : bool
            Whether to write a third table, ``withdrawn``: the answers that were taken back, and those that could not
            say. The requests to LLM judges and their raw replies are a fourth one, ``replies``, if there are any.
        escape : bool
            Whether to escape texts in CSV that a spreadsheet program would run as formulas.
        overwrite : bool
            Whether to replace files that exist.
        """
        with self._database.reading() as connection:
            tables = {"items": read_columns(connection), "pairs": Columns()}
            columns = answer_columns(connection, superseded=True)
            replies = reply_columns(connection)
            id_type = id_type_of(connection)
        usable = is_judged(columns) & ~columns["superseded"]
        rest = select_rows(columns, ~usable)
        current = select_rows(columns, usable)
        del current["superseded"]
        tables["pairs"] = pair_columns(current, id_type)
        if superseded:
            tables["withdrawn"] = pair_columns(rest, id_type)
        if superseded and len(replies["left"]):
            tables["replies"] = replies
        return export_tables(tables, Path(folder), format=format, escape=escape, overwrite=overwrite)

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a copy of the study to a file, while it is used."""
        backup_study(self._database, Path(path), overwrite=overwrite)

    def private_address(self) -> str:
        """Return the address with its password, for another process of this program; never show it."""
        return self._database.private_address

    def close_connections(self) -> None:
        """Close all connections to the database; the study can still be used."""
        self._database.close()

    def _read(
        self,
        function: Callable[Concatenate[Connection, _Parameters], _Result],
        *args: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        with self._database.reading() as connection:
            return function(connection, *args, **options)

    def _write(
        self,
        function: Callable[Concatenate[Connection, _Parameters], _Result],
        *args: _Parameters.args,
        **options: _Parameters.kwargs,
    ) -> _Result:
        """Run a function in a transaction, again if another one claimed the same slot or name at the same time."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                with self._database.writing() as connection:
                    return function(connection, *args, **options)
            except IntegrityError:
                continue
        raise StudyUnavailable(f"the study {self.address} is changed by others at the same time. Try again.")
