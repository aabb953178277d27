"""Arguments and options of the commands that collect judgements."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from confdiff.cli.options import argument, option

if TYPE_CHECKING:
    from confdiff.labelling.study import Study

StudyArgument = Annotated[
    str, argument(metavar="STUDY", help="File of the study, or `postgresql://user@host/database?study=NAME`.")
]
NameArgument = Annotated[str, argument(metavar="NAME", help="Name of the annotator.")]
NamesArgument = Annotated[list[str], argument(metavar="NAME...", help="Names of annotators.")]
QuotaOption = Annotated[
    int | None,
    option(min=0, metavar="N", help="Number of answers that an annotator may give. If omitted, an equal part."),
]


def opened(study: str) -> "Study":
    """Return a study that exists."""
    from confdiff.labelling import open_study

    return open_study(study)


@contextmanager
def open_for_command(study: str) -> "Iterator[Study]":
    """Yield a study that exists, and close its files after the block."""
    collection = opened(study)
    try:
        yield collection
    finally:
        collection.close_connections()


def fraction(flag: str, text: str) -> float:
    """Return a fraction from 0 to 1, which may be written in per cent.

    >>> fraction("--same-class", "5%"), fraction("--same-class", "0.05")
    (0.05, 0.05)
    """
    number = text.strip()
    try:
        value = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ValueError(f"{flag} must be a fraction from 0 to 1, such as 5% or 0.05; got {text!r}.")
    return value


def read_instructions(path: Path | None) -> str:
    """Return the text of a file of instructions; empty without one."""
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"--instructions must be a text file in UTF-8; {path} is not.") from error


def expected_pairs(flag: str, path: Path | None) -> tuple[tuple[str, str, float], ...]:
    """Return the pairs of a table with columns left, right and difference, from -1 to 1."""
    if path is None:
        return ()
    from confdiff.tabular.tables import read_judged

    try:
        judged = read_judged(path)
    except (ValueError, OSError) as error:
        raise ValueError(f"{flag} {path}: {error}") from error
    rows: Any = zip(judged.left.tolist(), judged.right.tolist(), judged.difference.tolist(), strict=True)
    return tuple((str(left), str(right), difference) for left, right, difference in rows)
