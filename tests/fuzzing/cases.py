"""Run one case: copy the valid files, damage the copy, open it, and judge the outcome."""

import random
import shutil
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

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


def run_case(target: Target, valid: Path, scratch: Path, seed: int) -> Outcome:
    """Run the case of a seed in the folder ``scratch/case``, which is removed afterwards."""
    folder = scratch / "case"
    shutil.copytree(valid, folder, symlinks=True)
    try:
        damage = target.forge(folder, random.Random(seed))
        return _opened(target, folder, damage)
    finally:
        shutil.rmtree(folder)


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
