"""Run one case: copy the valid files, damage the copy, open it, and judge the outcome."""

import random
import shutil
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

from fuzzing.forging import DECOY
from fuzzing.target import Target

ACCEPTED = "accepted"
REFUSED = "refused"
FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """The result of a case: one of the constants above, the damage, and the error or traceback."""

    kind: str
    damage: str
    detail: str = ""


_DECOY_TEXT = "untouched\n"


def run_case(target: Target, valid: Path, scratch: Path, seed: int) -> Outcome:
    """Run the case of a seed in a folder below the empty folder ``scratch``, which is empty again afterwards.

    A case that writes outside of its folder has failed.
    """
    folder = scratch / "around" / "case"
    decoy = scratch / DECOY
    decoy.write_text(_DECOY_TEXT)
    shutil.copytree(valid, folder, symlinks=True)
    try:
        damage = target.forge(folder, random.Random(seed))
        outcome = _opened(target, folder, damage)
        entries = {path.relative_to(scratch).as_posix() for path in (*scratch.iterdir(), *folder.parent.iterdir())}
        if entries != {"around", "around/case", DECOY} or decoy.read_bytes() != _DECOY_TEXT.encode():
            return Outcome(
                FAILED, damage, f"wrote outside of its folder: {sorted(entries)}, {decoy.read_bytes()!r:.80}"
            )
        return outcome
    finally:
        shutil.rmtree(folder.parent)
        decoy.unlink()


def _opened(target: Target, folder: Path, damage: str) -> Outcome:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)
            target.open(folder)
    except (ValueError, OSError) as error:
        names_path = str(folder) in str(error)
        detail = f"{type(error).__name__}: {error}" + ("" if names_path else "  <- names no path")
        return Outcome(REFUSED if names_path else FAILED, damage, detail)
    except BaseException:
        return Outcome(FAILED, damage, traceback.format_exc())
    return Outcome(ACCEPTED, damage)
