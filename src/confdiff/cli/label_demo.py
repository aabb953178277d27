"""confdiff label demo: a study of digits with simulated judges at work."""

import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from confdiff.cli.console import print_message, progress, say, status
from confdiff.cli.options import SeedOption, argument, option, switch
from confdiff.display.text import plural

if TYPE_CHECKING:
    from confdiff.labelling.demo import DigitStudy
    from confdiff.labelling.simulating import SimulatedJudge
    from confdiff.labelling.study import Study

_PACE = 1.2  # seconds per answer of a judge, while somebody looks


def demo_study_command(
    folder: Annotated[Path, argument(metavar="[FOLDER]", help="New folder for the study.")] = Path("label-demo"),
    answers: Annotated[
        int | None,
        option(min=1, metavar="N", help="Number of simulated answers. If omitted, until the quotas are reached."),
    ] = None,
    ends: Annotated[bool, switch("--exit", help="Answer as fast as possible, and end.")] = False,
    port: Annotated[int, option(min=0, max=65535, metavar="PORT", help="Port on this computer; 0 is any.")] = 0,
    opens: Annotated[bool, switch("--open", help="Open the owner's page in the browser.")] = False,
    seed: SeedOption = 0,
) -> None:
    """Serve a study of digits to try the labelling studio, with simulated judges at work.

    Five simulated judges compare handwritten digits through the HTTP interface: one uses half of the scale, one
    favours the right side, one is hasty. The command prints the link of the owner's page, which shows their progress,
    and a link for you as the sixth annotator. Ctrl-C ends it; the study remains in the folder.

    Example:
        confdiff label demo
    """
    with status("making the study"):
        from confdiff.labelling.app import create_app
        from confdiff.labelling.demo import create_digit_study, invite_judges
        from confdiff.labelling.local_server import serving_locally
        from confdiff.labelling.study import open_study

        files = create_digit_study(folder, seed=seed)
        study = open_study(files.study)
        judges = invite_judges(study)
    say(f"study: {files.study}")
    with serving_locally(create_app(study), port=port) as address:
        if ends:
            _simulate(address, judges, files, study, answers, 0.0, seed)
        else:
            _print_links(study, address, opens)
            with suppress(KeyboardInterrupt):
                _simulate(address, judges, files, study, answers, _PACE, seed)
                _wait_for_interrupt()
    study.close_connections()
    _print_next_steps(files)


def _print_links(study: "Study", address: str, opens: bool) -> None:
    owner = f"{address}owner/join/{study.owner_token()}"
    own = f"{address}join/{study.invite('you').token}"
    say(f"owner's page: {owner}")
    say(f"your own annotator link: {own}")
    print_message("Ctrl-C ends the server; the study remains.")
    if opens:
        webbrowser.open(owner)


def _simulate(
    address: str,
    judges: "dict[str, SimulatedJudge]",
    files: "DigitStudy",
    study: "Study",
    answers: int | None,
    pace: float,
    seed: int,
) -> None:
    """Let the judges answer, with a line of progress; Ctrl-C stops them."""
    from confdiff.labelling.simulating import simulate_answers

    quotas = sum(annotator.quota for annotator in study.annotators() if annotator.kind == "simulated")
    total = quotas if answers is None else min(answers, quotas)
    stop = threading.Event()
    try:
        with progress("simulated answers", total) as update:
            count = simulate_answers(
                address,
                judges,
                files.value_of,
                points=study.settings.points,
                n_answers=answers,
                pace=pace,
                stop=stop,
                on_answer=lambda stored: update(stored, detail=plural(stored, "answer")),
                seed=seed,
            )
    except KeyboardInterrupt:
        stop.set()
        raise
    say(f"{plural(count, 'simulated answer')} stored")


def _wait_for_interrupt() -> None:
    print_message("The simulated judges have finished. The server continues until Ctrl-C.")
    threading.Event().wait()


def _print_next_steps(files: "DigitStudy") -> None:
    model = files.folder / "model"
    say("next:")
    say(f"  confdiff check {files.study}")
    say(f"  confdiff fit {files.study} -o {model}")
    say(f"  confdiff predict {model} {files.new_items} -o {files.folder / 'scores.csv'}")
