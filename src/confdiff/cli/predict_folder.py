"""confdiff predict for a folder of Parquet files."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from confdiff.cli.console import complain, progress, say, say_files, status
from confdiff.interruption import exit_status

if TYPE_CHECKING:
    from confdiff.tabular.model.folder_scoring import FolderScores


@dataclass(frozen=True)
class ScoringPlace:
    """Where files are scored; see :func:`confdiff.engines.open_engine`."""

    engine: str | None
    jobs: int | None
    address: str | None


def predict_parts(model: Path, items: Path, output: Path, options: dict[str, Any], place: ScoringPlace) -> None:
    """Score the files of a folder, and report the parts that failed."""
    with status("reading the folder"):
        from confdiff.io.batches import count_rows
        from confdiff.tabular.model.model import load_model
        from confdiff.tabular.model.parts import item_files
        from confdiff.tabular.model.scoring import set_target_prior

        fitted = load_model(model)  # one message for all parts if the model is damaged or has no classes
        if options["target_prior"] is not None:
            set_target_prior(fitted, options["target_prior"])
        n_rows = sum(count_rows(path) or 0 for path in item_files(items).values())
    scores = _score_until_stopped(model, items, output, options | asdict(place), n_rows)
    if scores.n_earlier:
        say(
            f"{scores.n_earlier:,} of {scores.n_parts:,} files needed no scores: an earlier run had written them, or "
            "they have no rows"
        )
    for problem in scores.failures.values():
        complain(f"failed: {problem}")
    if scores.failures:
        complain(
            f"{len(scores.failures):,} of {scores.n_parts:,} files failed; the same command scores what is missing"
        )
        raise typer.Exit(1)
    say(f"{scores.n_items:,} items scored")
    say_files({"scores": output})


def _score_until_stopped(
    model: Path, items: Path, output: Path, options: dict[str, Any], n_rows: int
) -> "FolderScores":
    """Score files; Ctrl-C or a killed worker ends the command with one line and an exit status."""
    from concurrent.futures.process import BrokenProcessPool

    from confdiff.tabular.model.folder_scoring import predict_folder

    with progress("scoring", n_rows) as update:
        try:
            return predict_folder(model, items, output, done=update, **options)
        except (KeyboardInterrupt, BrokenProcessPool) as stop:
            cause = "stopped" if isinstance(stop, KeyboardInterrupt) else "a worker process was killed"
            complain(f"{cause}: the scores so far are in {output}; the same command continues from there")
            raise typer.Exit(exit_status(stop) if isinstance(stop, KeyboardInterrupt) else 1) from None
