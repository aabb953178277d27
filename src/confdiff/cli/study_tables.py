"""The tables of a command: files, or the items and judgements of a study."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from confdiff.cli.configuration import used_config
from confdiff.cli.options import TABLE_ENDINGS, argument
from confdiff.io.table_formats.registry import table_format_of
from confdiff.labelling.recognising import is_postgresql, is_study_address

ItemsOrStudyArgument = Annotated[
    str,
    argument(
        metavar="ITEMS",
        help=f"Table of items ({TABLE_ENDINGS}): one row per item, with an id and features. Or a study of "
        "`confdiff label`, without PAIRS.",
    ),
]
OptionalPairsArgument = Annotated[
    Path | None,
    argument(metavar="[PAIRS]", help="Table of judged pairs: one row per pair, with columns left, right, difference."),
]
PairsOrStudyArgument = Annotated[
    str,
    argument(
        metavar="PAIRS",
        help="Table of judged pairs: one row per pair, with columns left, right, difference. Or a study of "
        "`confdiff label`.",
    ),
]

_SCALE = "-1,1"  # of all studies
_MEDIA = ("image", "audio")  # columns of names of files, which are no features


@dataclass(frozen=True)
class JudgedTables:
    """Items and pairs of a command.

    Attributes
    ----------
    items, pairs
        Paths, or the tables of a study.
    inputs
        The files that are read.
    study
        The address of the study, or None.
    """

    items: Any
    pairs: Any
    inputs: list[Path]
    study: str | None = None

    def config(self, config: Path | None) -> Path | None:
        """Return the file of roles and options: next to tables one is looked for, next to studies it must be given."""
        return config if self.study is not None and config is None else used_config(self.inputs[0], config)

    def scale(self, scale: str | None) -> str | None:
        """Return the scale of the judgements, which is that of studies unless it is given."""
        return _SCALE if scale is None and self.study is not None else scale


def read_item_tables(items: str, pairs: Path | None, *, keeps_media: bool = False) -> JudgedTables:
    """Return the tables of two arguments, or of a study that is the only one.

    Columns that name files of media are no features. With ``keeps_media``, they remain if there are no others.
    """
    if _is_study(items):
        if pairs is not None:
            raise ValueError(f"{items} is a study, which has judged pairs: omit {pairs}.")
        return _of_study(items, keeps_media=keeps_media)
    if pairs is None:
        raise ValueError(f"a table of judged pairs must follow the items; got {items} only, which is not a study.")
    return JudgedTables(items=Path(items), pairs=pairs, inputs=[Path(items), pairs])


def read_pair_tables(pairs: str) -> JudgedTables:
    """Return the table of one argument, or that of a study."""
    if _is_study(pairs):
        return _of_study(pairs)
    return JudgedTables(items=None, pairs=Path(pairs), inputs=[Path(pairs)])


def _is_study(address: str) -> bool:
    """Return whether an argument is a study: a file that does not have the name of a table."""
    return is_postgresql(address) or (table_format_of(Path(address)) is None and is_study_address(address))


def _of_study(address: str, *, keeps_media: bool = False) -> JudgedTables:
    from confdiff.io.typed_table import TypedTable
    from confdiff.labelling import open_study

    study = open_study(address)
    kinds = study.settings.kinds
    every = study.items()
    features = {name: cells for name, cells in every.items() if kinds.get(name) not in _MEDIA}
    items = every if keeps_media and len(features) == 1 else features
    pairs = study.pairs()
    study.close_connections()
    if not len(pairs["left"]):
        raise ValueError(f"the study {study.address} has no answers with a judgement yet. Ask annotators first.")
    return JudgedTables(
        items=TypedTable(items, title=f"the items of {study.address}"),
        pairs=TypedTable(pairs, title=f"the judgements of {study.address}"),
        inputs=[] if "://" in study.address else [Path(address)],
        study=study.address,
    )
