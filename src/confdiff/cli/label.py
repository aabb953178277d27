"""confdiff label: invite annotators, follow a study, and get its data out."""

import json
import math
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from confdiff.cli.console import name_column, number_column, results, say
from confdiff.cli.label_options import NameArgument, NamesArgument, StudyArgument, open_for_command
from confdiff.cli.options import EscapeOption, JsonOption, OverwriteOption, argument, option, output_option, switch
from confdiff.display.text import plural

if TYPE_CHECKING:
    from confdiff.labelling.annotators import Annotator
    from confdiff.labelling.study import Study

_Url = Annotated[
    str, option(metavar="URL", help="Address at which annotators reach the server, for the links that are printed.")
]
_Kind = Annotated[str, option(metavar="NAME", help="`person`, `llm` or `simulated`.")]
_InviteQuota = Annotated[
    int | None, option(min=0, metavar="N", help="Number of answers they may give. If omitted, that of the study.")
]
_Quota = Annotated[
    str,
    argument(metavar="N", help="Number of answers that the annotator may give, or `default` for that of the study."),
]
_Renew = Annotated[bool, switch("--renew", help="End all earlier links of the owner.")]
_Yes = Annotated[bool, switch("--yes", help="Delete without this flag only shows what would be deleted.")]
_Format = Annotated[str, option(metavar="NAME", help="`csv`, `parquet` or `jsonl`.")]
_All = Annotated[
    bool,
    switch(
        "--all",
        help="Also write a table of answers that were taken back, and of those that could not say, and one of the raw "
        "replies of LLM judges.",
    ),
]


def invite_command(
    study: StudyArgument,
    names: NamesArgument,
    quota: _InviteQuota = None,
    kind: _Kind = "person",
    url: _Url = "http://127.0.0.1:8000/",
) -> None:
    """Invite annotators, and print a link for each; a further invitation of a name replaces the link.

    Send each link to one person only: whoever has it can answer. Only a digest of it is stored.

    Example:
        confdiff label invite jokes.db Ann Ben --quota 100
    """
    with open_for_command(study) as collection:
        invitations = [collection.invite(name, quota=quota, kind=kind) for name in dict.fromkeys(names)]
    for invitation in invitations:
        say(f"{invitation.name}: {url.rstrip('/')}/join/{invitation.token}")  # a table would cut it


def owner_command(study: StudyArgument, url: _Url = "http://127.0.0.1:8000/", renew: _Renew = False) -> None:
    """Print a new link to the owner's page; with --renew, the earlier ones end.

    Whoever has the link can read all answers, invite annotators and close the study. Only a digest of it is stored.

    Example:
        confdiff label owner jokes.db --renew --url https://label.example.org/
    """
    with open_for_command(study) as collection:
        token = collection.owner_token(renew=renew)
    say(f"owner's page: {url.rstrip('/')}/owner/join/{token}")


def revoke_command(study: StudyArgument, names: NamesArgument) -> None:
    """End the links of annotators; their answers remain.

    Example:
        confdiff label revoke jokes.db Ann
    """
    with open_for_command(study) as collection:
        for name in names:
            collection.revoke(name)
            say(f"the link of {name} has ended")


def quota_command(study: StudyArgument, name: NameArgument, quota: _Quota) -> None:
    """Set how many answers an annotator may give.

    Example:
        confdiff label quota jokes.db Ann 150
    """
    if quota != "default" and not (quota.isascii() and quota.isdigit()):
        raise ValueError(f"the quota must be a whole number of at least 0, or `default`; got {quota!r}.")
    with open_for_command(study) as collection:
        collection.set_quota(name, None if quota == "default" else int(quota))
        row = next(annotator for annotator in collection.annotators() if annotator.name == name.strip())
    say(f"{row.name}: {row.answered:,} of {row.quota:,} answers")


def pause_command(study: StudyArgument) -> None:
    """Ask no questions until the study is resumed.

    Example:
        confdiff label pause jokes.db
    """
    with open_for_command(study) as collection:
        collection.pause()
    say("the study is paused; `confdiff label resume` continues it")


def resume_command(study: StudyArgument) -> None:
    """Ask questions again, after a pause or after closing.

    Example:
        confdiff label resume jokes.db
    """
    with open_for_command(study) as collection:
        collection.resume()
    say("the study is open")


def close_command(study: StudyArgument) -> None:
    """End a study: no questions are asked, and no answers are accepted.

    Example:
        confdiff label close jokes.db
    """
    with open_for_command(study) as collection:
        collection.close()
    say("the study is closed; `confdiff label resume` opens it again")


def delete_command(study: StudyArgument, name: NameArgument, yes: _Yes = False) -> None:
    """Delete all data of an annotator: answers, assignments, sessions and the name. Their questions become free.

    Backups and exports that were made before are not changed.

    Example:
        confdiff label delete jokes.db Ann --yes
    """
    with open_for_command(study) as collection:
        answered = {annotator.name: annotator.answered for annotator in collection.annotators()}
        if not yes and name.strip() in answered:
            raise ValueError(
                f"{plural(answered[name.strip()], 'answer')} of {name.strip()} would be deleted, and cannot be "
                "restored. Pass --yes to delete them."
            )
        count = collection.delete_annotator(name)
    say(f"deleted {name.strip()} and {plural(count, 'answer')}")


def status_command(study: StudyArgument, as_json: JsonOption = False) -> None:
    """Print the progress of a study and of its annotators.

    Example:
        confdiff label status jokes.db
    """
    with open_for_command(study) as collection:
        report = _status(collection)
    if as_json:
        typer.echo(json.dumps(report))
        return
    table = Table(
        name_column("annotator"),
        *map(number_column, ("answers", "quota", "minutes left", "last answer")),
        name_column("state"),
    )
    for row in report["annotators"]:
        table.add_row(
            Text(row["name"]),
            f"{row['answered']:,}",
            f"{row['quota']:,}",
            "-" if row["minutes_left"] is None else f"{row['minutes_left']:,}",
            (row["last_at"] or "-")[:16].replace("T", " "),
            "revoked" if row["revoked"] else "",
        )
    if report["annotators"]:
        results.print(table)
    if report["judges"]:
        results.print(_judge_table(report["judges"]))
    of_llms = sum(row["answered"] for row in report["annotators"] if row["kind"] == "llm")
    say(
        f"{report['study']} is {report['state']}: {plural(report['answers'], 'answer')}"
        f"{f', {of_llms:,} of them by LLMs,' if of_llms else ''} to "
        f"{plural(report['questions'], 'question')} about {plural(report['items'], 'item')}"
    )


def _judge_table(judges: list[dict[str, Any]]) -> Table:
    """Return the requests of LLM judges as a table."""
    table = Table(name_column("judge"), name_column("model"), *map(number_column, ("requests", "tokens", "faults")))
    for judge in judges:
        counts = (f"{judge[name]:,}" for name in ("requests", "tokens", "faults"))
        table.add_row(Text(judge["name"]), Text(judge["model"]), *counts)
    return table


def _status(study: "Study") -> dict[str, Any]:
    from confdiff.labelling.judges.records import judge_uses

    annotators = study.annotators()
    with study.database.reading() as connection:
        uses = judge_uses(connection)
    return {
        "study": study.address,
        "title": study.settings.title,
        "question": study.settings.question,
        "state": study.state,
        "items": len(study.item_ids()),
        "questions": len(study.plan()),
        "answers": sum(annotator.answered for annotator in annotators),
        "annotators": [_annotator_status(study, annotator) for annotator in annotators],
        "judges": [asdict(use) | {"faults": use.faults} for use in uses],
    }


def _annotator_status(study: "Study", annotator: "Annotator") -> dict[str, Any]:
    seconds = study.progress(annotator.name).seconds_per_answer
    remaining = max(annotator.quota - annotator.answered, 0)
    last = annotator.last_at
    return asdict(annotator) | {
        "seconds_per_answer": seconds,
        "minutes_left": None if seconds is None or annotator.kind == "llm" else math.ceil(remaining * seconds / 60),
        "last_at": None if last is None else datetime.fromtimestamp(last, UTC).isoformat(timespec="seconds"),
    }


def export_command(
    study: StudyArgument,
    output: Annotated[Path, output_option("Folder for the tables.")] = Path("judgements"),
    format: _Format = "csv",
    all: _All = False,
    escape: EscapeOption = True,
    overwrite: OverwriteOption = False,
) -> None:
    """Write the items and the judged pairs as tables that `check` and `fit` read without flags.

    Example:
        confdiff label export jokes.db -o judgements
    """
    with open_for_command(study) as collection:
        paths = collection.export(output, format=format, superseded=all, escape=escape, overwrite=overwrite)
    for path in paths:
        say(f"{path.stem}: {path}")


def backup_command(
    study: StudyArgument,
    output: Annotated[Path, output_option("File for the copy.", metavar="FILE")],
    overwrite: OverwriteOption = False,
) -> None:
    """Copy a study to a file, also while it is being served.

    Example:
        confdiff label backup jokes.db -o jokes-copy.db
    """
    with open_for_command(study) as collection:
        collection.backup(output, overwrite=overwrite)
    say(f"backup: {output}")
