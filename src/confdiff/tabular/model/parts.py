"""A folder of scores: one part per file of items, the run that it belongs to, and a marker of its completeness."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confdiff.io.atomic import write_text
from confdiff.io.damage import reporting_damage
from confdiff.io.documents import parse_document
from confdiff.io.outputs import check_new_file
from confdiff.pairs.parquet import parquet_files

SUCCESS = "_SUCCESS"
"""Name of the file that says that all parts are written; other programs look for this name, too."""
RUN = "_scoring.json"
"""Name of the file that describes the run: model, options and files of items."""
_REMEDY = "Choose another folder, or remove the file."


@dataclass(frozen=True)
class ScoringRun:
    """Everything that determines the scores of a folder.

    Parameters
    ----------
    model : str
        Digest of the manifest of the model.
    options : mapping
        Options of the scores, such as the threshold.
    parts : mapping
        Path below the folder of items -> size and time of the last change of the file.
    """

    model: str
    options: Mapping[str, Any]
    parts: Mapping[str, list[int]]

    def to_json(self) -> str:
        """Return the run as it is written next to its parts."""
        values = {"format": 1, "model": self.model, "options": dict(self.options), "parts": dict(self.parts)}
        return json.dumps(values, indent=1) + "\n"

    def difference(self, other: "ScoringRun") -> str:
        """Return what another run has different, or an empty text."""
        kinds = {"model": "model", "options": "options", "parts": "files of items"}
        return ", ".join(kind for name, kind in kinds.items() if getattr(self, name) != getattr(other, name))


def item_files(items: Path) -> dict[str, Path]:
    """Return the Parquet files below a folder, by their paths in it."""
    return {path.relative_to(items).as_posix(): path for path in parquet_files(items)}


def file_state(path: Path) -> list[int]:
    """Return the size and the time of the last change of a file, by which a changed file is recognised."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def prepare_output(output: Path, run: ScoringRun, *, items: Path, model: Path, overwrite: bool) -> None:
    """Make a folder ready for the parts of a run; those that the same run has written before are kept.

    Parameters
    ----------
    output : Path
        The folder of scores.
    run : ScoringRun
        The run.
    items, model : Path
        The folders that the run reads.
    overwrite : bool
        Whether the parts of another run may be removed.

    Raises
    ------
    OSError
        The folder lies in a folder that is read, or holds other files or the parts of another run.
    """
    check_new_file(output / RUN, inputs=[items, model], overwrite=True)
    earlier = _earlier_run(output)
    if earlier is not None:
        difference = run.difference(earlier)
        if difference and not overwrite:
            raise FileExistsError(
                f"{output} holds scores of another run (other {difference}). Choose another folder, or pass "
                "overwrite=True to replace them."
            )
        if difference or overwrite:
            _remove_parts(output, earlier)
    write_text(output / RUN, run.to_json())


def missing_parts(output: Path, run: ScoringRun) -> list[str]:
    """Return the parts that are not written yet; a part that exists is whole."""
    return [name for name in run.parts if not (output / name).exists()]


def mark_complete(output: Path, n_items: int, n_parts: int) -> None:
    """Write the marker of completeness."""
    write_text(output / SUCCESS, json.dumps({"items": n_items, "parts": n_parts}) + "\n")


def _earlier_run(output: Path) -> ScoringRun | None:
    """Return the run whose parts a folder holds, or None if it is new or empty."""
    file = output / RUN
    if not file.exists():
        if output.exists() and any(output.iterdir()):
            raise FileExistsError(f"{output} already exists and holds no scores of confdiff. Choose another folder.")
        return None
    with reporting_damage(file, _REMEDY):
        values = parse_document(file.read_text(encoding="utf-8"))
        return ScoringRun(model=values["model"], options=values["options"], parts=values["parts"])


def _remove_parts(output: Path, run: ScoringRun) -> None:
    """Remove the marker, then the parts of a run, and nothing else."""
    for name in (SUCCESS, *run.parts):
        path = output / name
        if path.resolve().is_relative_to(output.resolve()):
            path.unlink(missing_ok=True)
