"""confdiff judge: let LLM judges compare items, without a study."""

from pathlib import Path
from typing import Annotated

from confdiff.cli.console import say, say_files, status
from confdiff.cli.judge_options import (
    BaseUrlOption,
    ConcurrencyOption,
    DryRunOption,
    JudgeConfigOption,
    JudgeNameOption,
    KeyOption,
    LlmOption,
    MaxRequestsOption,
    MaxTokensOption,
    ReplyTokensOption,
    TemperatureOption,
    TemplateOption,
    TimeoutOption,
    WriteTemplateOption,
    chosen_judges,
    write_template,
)
from confdiff.cli.label_judge import ask_judges
from confdiff.cli.label_options import fraction, read_instructions
from confdiff.cli.options import (
    TABLE_ENDINGS,
    EncodingOption,
    EscapeOption,
    IdOption,
    OverwriteOption,
    SeedOption,
    argument,
    option,
    output_option,
)
from confdiff.display.text import plural
from confdiff.io.table_formats.encodings import takes_encoding

_Items = Annotated[
    Path, argument(metavar="ITEMS", help=f"Table of items ({TABLE_ENDINGS}): one row per item, with an id.")
]
_Output = Annotated[
    Path,
    output_option(
        f"Table of judged pairs ({TABLE_ENDINGS}). A study of the same name is kept next to it.", metavar="FILE"
    ),
]
_Question = Annotated[str, option(metavar="TEXT", help="What the judges are asked, such as 'Which is funnier?'")]
_Points = Annotated[int, option(metavar="N", help="Points of the scale: 3, 5, 7 or 9, or 0 for a fine scale.")]
_Show = Annotated[
    str | None, option(metavar="COLUMNS", help="Columns to show, separated by commas. If omitted, all but the id.")
]
_Instructions = Annotated[Path | None, option(metavar="FILE", help="Text file with instructions for the prompt.")]
_PairsPerItem = Annotated[float, option(metavar="NUMBER", help="Pairs per item, each asked in both orders.")]
_SameClass = Annotated[str, option(metavar="FRACTION", help="Questions whether two items are of the same class.")]
_SameQuestion = Annotated[str, option(metavar="TEXT", help="The wording of those questions.")]


@takes_encoding
def judge_items_command(
    items: _Items,
    output: _Output = Path("pairs.csv"),
    question: _Question = "",
    llm: LlmOption = None,
    name: JudgeNameOption = None,
    points: _Points = 7,
    show: _Show = None,
    instructions: _Instructions = None,
    pairs_per_item: _PairsPerItem = 10.0,
    same_class: _SameClass = "0%",
    same_question: _SameQuestion = "",
    template: TemplateOption = None,
    write_template_to: WriteTemplateOption = None,
    dry_run: DryRunOption = False,
    base_url: BaseUrlOption = None,
    key: KeyOption = None,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    temperature: TemperatureOption = None,
    reply_tokens: ReplyTokensOption = None,
    max_requests: MaxRequestsOption = None,
    max_tokens: MaxTokensOption = None,
    config: JudgeConfigOption = None,
    id: IdOption = None,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    escape: EscapeOption = True,
    overwrite: OverwriteOption = False,
) -> None:
    """Let LLM judges compare items, and write the judged pairs as a table for `check`, `rank` and `fit`.

    The answers and the raw replies are kept in a study next to the table, such as pairs.study. An interrupted run
    continues with the same command, and asks nothing twice. `confdiff label judge` asks about a study of your own,
    together with people. The texts of the items are sent to the endpoint.

    Example:
        confdiff judge jokes.csv -o pairs.csv --question "Which joke is funnier?" --llm gpt-4o-mini
    """
    if write_template_to is not None:
        write_template(write_template_to)
        say(f"template: {write_template_to}")
        return
    with status("loading PyTorch"):
        from confdiff.io.outputs import check_new_file
        from confdiff.io.tables import check_table_name, write_table
        from confdiff.labelling import StudySettings
        from confdiff.labelling.judges.api_key import check_keys
        from confdiff.labelling.judges.without_study import open_or_create
        from confdiff.tabular.tables import read_items

        judges = chosen_judges(
            str(items),
            config,
            llm,
            name=name,
            template=template,
            base_url=base_url,
            key=key,
            concurrency=concurrency,
            timeout=timeout,
            temperature=temperature,
            reply_tokens=reply_tokens,
            max_requests=max_requests,
            max_tokens=max_tokens,
        )
    check_new_file(check_table_name(output), inputs=[items], overwrite=overwrite)
    table = read_items(items, id=id)
    settings = StudySettings(
        question=question,
        points=points,
        show=tuple(column.strip() for column in show.split(",")) if show else (),
        instructions=read_instructions(instructions),
        same_class=fraction("--same-class", same_class),
        same_question=same_question,
        pairs_per_item=pairs_per_item,
        judges=1,
        repeats=0.0,
        seed=seed,
    )
    if not dry_run:
        check_keys(judges)
    with open_or_create(output.with_suffix(".study"), table, settings, keep=not dry_run) as study:
        ask_judges(study, judges, dry_run=dry_run)
        if dry_run:
            return
        pairs = study.pairs()
    if not len(pairs["left"]):
        raise ValueError("no judge gave an answer with a judgement; no table was written.")
    write_table(output, pairs, escape=escape)
    say(f"{plural(len(pairs['left']), 'judgement')} of {plural(len(table), 'item')}")
    say_files({"pairs": output, "study": output.with_suffix(".study")})
    say(f"next: confdiff check {items} {output}")
