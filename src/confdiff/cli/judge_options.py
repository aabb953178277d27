"""Options of the commands that ask LLM judges, and the judges that they name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from confdiff.cli.console import print_message
from confdiff.cli.options import option, switch
from confdiff.config import CONFIG_NAME, find_config, load_config

if TYPE_CHECKING:
    from confdiff.labelling import JudgeSettings

_ENDPOINT = "Endpoint"
_BUDGET = "Budget"
LlmOption = Annotated[
    str | None,
    option(
        metavar="NAME",
        help=f"Model, as the endpoint names it, or a judge of {CONFIG_NAME}. If omitted, all judges of {CONFIG_NAME}.",
    ),
]
JudgeNameOption = Annotated[
    str | None, option(metavar="NAME", help="Name of the judge among the annotators. If omitted, that of the model.")
]
BaseUrlOption = Annotated[
    str | None,
    option(
        metavar="URL",
        panel=_ENDPOINT,
        help="Address of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1. If omitted, OpenAI's.",
    ),
]
KeyOption = Annotated[
    str | None,
    option(
        metavar="VARIABLE",
        panel=_ENDPOINT,
        help="Environment variable with the API key. If omitted, OPENAI_API_KEY for OpenAI, and no key for others.",
    ),
]
ConcurrencyOption = Annotated[
    int | None, option(min=1, metavar="N", panel=_ENDPOINT, help="Requests at the same time. If omitted, 8.")
]
TimeoutOption = Annotated[
    float | None,
    option(metavar="SECONDS", panel=_ENDPOINT, help="Time to wait for a reply before asking again. If omitted, 60."),
]
TemperatureOption = Annotated[
    float | None, option(metavar="NUMBER", panel=_ENDPOINT, help="Temperature of sampling. If omitted, 0.")
]
ReplyTokensOption = Annotated[
    int | None,
    option(
        min=1,
        metavar="N",
        panel=_ENDPOINT,
        help="Longest reply in tokens, including those of reasoning. If omitted, 300.",
    ),
]
MaxRequestsOption = Annotated[
    int | None,
    option(min=1, metavar="N", panel=_BUDGET, help="Most requests of a judge in all runs. If omitted, no limit."),
]
MaxTokensOption = Annotated[
    int | None,
    option(min=1, metavar="N", panel=_BUDGET, help="Most tokens of a judge in all runs. If omitted, no limit."),
]
DryRunOption = Annotated[bool, switch("--dry-run", help="Print the first prompt and the numbers; ask nothing.")]
TemplateOption = Annotated[
    Path | None, option(metavar="FILE", help="Template of the prompt. If omitted, the one of --write-template.")
]
WriteTemplateOption = Annotated[
    Path | None,
    option("--write-template", metavar="FILE", help="Write the default template to a new file, to be edited, and end."),
]
JudgeConfigOption = Annotated[
    Path | None,
    option(metavar="FILE", help=f"File that lists judges. If omitted, {CONFIG_NAME} in the folder, if it exists."),
]


def chosen_judges(source: str, config: Path | None, llm: str | None, **values: Any) -> "list[JudgeSettings]":
    """Return the judges to ask: the one of --llm, or those that a file lists; flags win over the file.

    Parameters
    ----------
    source : str
        The study or the table, in whose folder the file is looked for.
    config : Path or None
        The file that --config names.
    llm : str or None
        A model, or the name of a judge of the file.
    **values
        Settings by their names; None is that of the file, or else the default.
    """
    from confdiff.labelling import JudgeSettings
    from confdiff.labelling.judges.judge_settings import listed_judges

    path = None if config is None and "://" in source else find_config(source, config)
    listed = {} if path is None else listed_judges(load_config(path).judges, path.parent)
    if llm is None and not listed:
        raise ValueError(f"name a model with --llm NAME, or list judges in {CONFIG_NAME}.")
    chosen = list(listed.values()) if llm is None else [listed.get(llm, {"model": llm})]
    given = {name: value for name, value in values.items() if value is not None}
    if len(chosen) > 1 and "name" in given:
        raise ValueError(f"--name names one judge, and {path} lists {len(chosen)}: choose one of them with --llm.")
    if listed and (llm is None or llm in listed):
        print_message(f"judges from {path}; flags win")
    return [JudgeSettings(**{**judge, **given}) for judge in chosen]


def write_template(path: Path) -> None:
    """Write the default template to a new file."""
    from confdiff.io.atomic import write_text
    from confdiff.io.outputs import check_new_file
    from confdiff.labelling.judges.templates import default_template

    check_new_file(path)
    write_text(path, default_template())
