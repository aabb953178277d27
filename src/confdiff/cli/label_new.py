"""confdiff label new: create a study from items and a question."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from confdiff.cli.console import say, status
from confdiff.cli.label_options import QuotaOption, StudyArgument, expected_pairs, fraction, read_instructions
from confdiff.cli.options import TABLE_ENDINGS, EncodingOption, IdOption, IgnoreOption, SeedOption, option, switch
from confdiff.display.text import plural
from confdiff.io.table_formats.encodings import takes_encoding

if TYPE_CHECKING:
    from confdiff.labelling.settings import StudySettings

_SHOWN = "What annotators see"
_DESIGN = "Which pairs are asked"
_Columns = list[str] | None
_Items = Annotated[
    Path, option("--items", metavar="FILE", help=f"Table of items ({TABLE_ENDINGS}): one row per item, with an id.")
]
_Question = Annotated[str, option(metavar="TEXT", help="What annotators are asked, such as 'Which is funnier?'")]
_Points = Annotated[int, option(metavar="N", help="Points of the scale: 3, 5, 7 or 9, or 0 for a fine scale.")]
_Words = Annotated[
    str | None,
    option(metavar="WORDS", panel=_SHOWN, help="Words of the points, separated by commas, from left by far to right."),
]
_Show = Annotated[
    _Columns,
    option(metavar="COLUMNS", panel=_SHOWN, help="Columns to show, separated by commas. If omitted, all but the id."),
]
_Text = Annotated[_Columns, option(metavar="COLUMN", panel=_SHOWN, help="Column of plain text. May be repeated.")]
_Markdown = Annotated[_Columns, option(metavar="COLUMN", panel=_SHOWN, help="Column of Markdown. May be repeated.")]
_Image = Annotated[
    _Columns, option(metavar="COLUMN", panel=_SHOWN, help="Column with the names of image files. May be repeated.")
]
_Audio = Annotated[
    _Columns, option(metavar="COLUMN", panel=_SHOWN, help="Column with the names of sound files. May be repeated.")
]
_Media = Annotated[str | None, option(metavar="FOLDER", panel=_SHOWN, help="Folder of images and sounds.")]
_Title = Annotated[str, option(metavar="TEXT", panel=_SHOWN, help="Title on the pages.")]
_Instructions = Annotated[
    Path | None, option(metavar="FILE", panel=_SHOWN, help="Markdown file with the text of the first page.")
]
_Examples = Annotated[
    Path | None,
    option(metavar="FILE", panel=_SHOWN, help="Table of pairs (left, right, difference from -1 to 1) for training."),
]
_Highlight = Annotated[bool, switch("--highlight", panel=_SHOWN, help="Mark cells that differ.")]
_Language = Annotated[str, option(metavar="CODE", panel=_SHOWN, help="Language of the pages.")]
_PairsPerItem = Annotated[float, option(metavar="NUMBER", panel=_DESIGN, help="Questions per item.")]
_Judges = Annotated[int, option(metavar="N", panel=_DESIGN, help="Annotators over whom the questions are spread.")]
_Design = Annotated[str, option(metavar="NAME", panel=_DESIGN, help="`balanced`, `random` or `uncertain`.")]
_Repeats = Annotated[str, option(metavar="FRACTION", panel=_DESIGN, help="Questions repeated with swapped sides.")]
_Reserve = Annotated[
    str, option(metavar="FRACTION", panel=_DESIGN, help="Questions about random pairs, on which quality is reported.")
]
_Triangles = Annotated[str, option(metavar="FRACTION", panel=_DESIGN, help="Questions that close triangles.")]
_SameClass = Annotated[
    str, option(metavar="FRACTION", panel=_DESIGN, help="Questions whether two items are of the same class.")
]
_SameQuestion = Annotated[str, option(metavar="TEXT", panel=_DESIGN, help="The wording of those questions.")]
_Gold = Annotated[
    Path | None,
    option(metavar="FILE", panel=_DESIGN, help="Table of pairs (left, right, difference from -1 to 1) to check with."),
]
_Lease = Annotated[
    int, option(metavar="N", panel=_DESIGN, help="Seconds for which a question is reserved for who sees it.")
]


@takes_encoding
def new_command(
    study: StudyArgument,
    items: _Items,
    question: _Question,
    points: _Points = 7,
    words: _Words = None,
    show: _Show = None,
    text: _Text = None,
    markdown: _Markdown = None,
    image: _Image = None,
    audio: _Audio = None,
    media: _Media = None,
    title: _Title = "",
    instructions: _Instructions = None,
    examples: _Examples = None,
    highlight: _Highlight = False,
    language: _Language = "en",
    pairs_per_item: _PairsPerItem = 10.0,
    judges: _Judges = 5,
    design: _Design = "balanced",
    repeats: _Repeats = "8%",
    reserve: _Reserve = "12%",
    triangles: _Triangles = "10%",
    same_class: _SameClass = "0%",
    same_question: _SameQuestion = "",
    gold: _Gold = None,
    quota: QuotaOption = None,
    lease_seconds: _Lease = 900,
    id: IdOption = None,
    ignore: IgnoreOption = None,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
) -> None:
    """Create a study: items, a question, and the pairs to ask.

    The study is one file, or a part of a PostgreSQL database. Nothing is written if an option is not valid.

    Example:
        confdiff label new jokes.db --items jokes.csv --question "Which joke is funnier?"
    """
    with status("loading PyTorch"):
        from confdiff.labelling import StudySettings, create_study
        from confdiff.tabular.tables import read_items
    table = read_items(items, id=id, ignore=tuple(ignore or ()))
    settings = StudySettings(
        question=question,
        points=points,
        words=tuple(word.strip() for word in words.split(",")) if words else (),
        show=_columns(show, [table.id_name, *table.columns]),
        kinds=_kinds(text=text, markdown=markdown, image=image, audio=audio),
        title=title,
        instructions=read_instructions(instructions),
        media=media,
        highlight=highlight,
        same_class=fraction("--same-class", same_class),
        same_question=same_question,
        pairs_per_item=pairs_per_item,
        judges=judges,
        design=design,
        repeats=fraction("--repeats", repeats),
        reserve=fraction("--reserve", reserve),
        triangles=fraction("--triangles", triangles),
        gold=expected_pairs("--gold", gold),
        examples=expected_pairs("--examples", examples),
        quota=quota,
        lease_seconds=lease_seconds,
        language=language,
        seed=seed,
    )
    created = create_study(study, table, settings)
    n_questions = len(created.plan())
    created.close_connections()
    _say_created(study, len(table), n_questions, settings)


def _say_created(study: str, n_items: int, n_questions: int, settings: "StudySettings") -> None:
    say(f"study: {study}")
    say(
        f"{plural(n_items, 'item')}, {plural(n_questions, 'question')} for "
        f"{plural(settings.judges, 'annotator')}, about {n_questions / settings.judges:.0f} each"
    )
    say(f"next: confdiff label invite {study} NAME, then confdiff label serve {study}")


def _columns(show: list[str] | None, columns: list[str]) -> tuple[str, ...]:
    """Return the columns to show; a name that is not a column may be several, separated by commas."""
    names: list[str] = []
    for text in show or ():
        names += [text] if text in columns else [name.strip() for name in text.split(",")]
    return tuple(names)


def _kinds(**columns: list[str] | None) -> dict[str, str]:
    return {name: kind for kind, names in columns.items() for name in names or ()}
