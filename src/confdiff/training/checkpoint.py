"""A file that is saved while training, from which an interrupted run resumes with identical results."""

import hashlib
import os
import time
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from confdiff.io.damage import reporting_damage
from confdiff.io.decoding import decode
from confdiff.io.tensors import load_tree, save_tree
from confdiff.methods import BUILT_IN_METHODS, Method
from confdiff.training.restoring import restore
from confdiff.training.run import Run

_REMEDY = "Delete it to start again, or pass another file."


@dataclass
class Checkpoint:
    """A file with the complete state of a run.

    Attributes
    ----------
    path : path
        The file.
    every : float
        Least number of seconds between two saves; ``train`` has the default, ``checkpoint_seconds``.
    run : Run
        The run whose state is saved and restored.
    evaluated : str
        Description of when the run is evaluated; a resumed run must have the same.
    saved_at, saved_step : float, int
        Time and step of the last save.
    """

    path: str | os.PathLike[str]
    every: float
    run: Run
    evaluated: str
    saved_at: float = field(default_factory=time.monotonic)
    saved_step: int = -1

    def __post_init__(self) -> None:
        if Path(self.path).is_dir():
            raise ValueError(f"checkpoint must be a file; {os.fspath(self.path)} is a folder.")
        self.fingerprint = self._fingerprint()

    def resume(self) -> None:
        """Restore the state of the run from the file, if it exists."""
        if not Path(self.path).exists():
            return
        state = load_tree(self.path, remedy=_REMEDY)
        with reporting_damage(self.path, _REMEDY):
            fingerprint = decode(dict[str, str], state["fingerprint"], "fingerprint")
        if fingerprint != self.fingerprint:
            raise ValueError(
                f"the checkpoint {os.fspath(self.path)} belongs to another run: {self._differences(fingerprint)}. "
                "Delete it to start again, or pass another file."
            )
        with reporting_damage(self.path, _REMEDY):
            restore(self.run, state)
        self.saved_step = self.run.step

    def save_if_due(self) -> bool:
        """Save if the last save is at least ``every`` seconds ago; return whether it was saved."""
        return time.monotonic() - self.saved_at >= self.every and self.save()

    def save(self) -> bool:
        """Save now, unless this step is already saved; return whether it was saved."""
        if self.run.step == self.saved_step:
            return False
        run = self.run
        run.count_time()
        state = {  # existing checkpoint files use these keys
            "fingerprint": self.fingerprint,
            "model": run.model.state_dict(),
            "optimizer": run.optimizer.state_dict(),
            "step": run.step,
            "risk_sum": run.risk_sum,
            "seconds": run.seconds,
            "history": run.history,
            "best": run.best,
            "companion": None if run.companion is None else run.companion.state(),
            "chance": torch.get_rng_state(),
            "chance_cuda": torch.cuda.get_rng_state_all() if run.device.type == "cuda" else [],
        }
        save_tree(self.path, state)
        self.saved_at = time.monotonic()
        self.saved_step = run.step
        return True

    def _fingerprint(self) -> dict[str, str]:
        """Return a short text for each property in which two runs must agree, so that messages can name differences."""
        run = self.run
        recipe = asdict(run.recipe) | {"optimizer": _name(run.recipe.optimizer), "device": run.device.type}
        return {
            "method": _method_text(run.method),
            "loss": _name(run.loss),
            "evaluated": self.evaluated,
            "prior": "one for each pair" if isinstance(run.prior, Tensor) else str(run.prior),
            **{name: str(value) for name, value in recipe.items()},
            "network": _digest(repr(run.model).encode()),
            "first weights of the network": _digest(*run.model.state_dict().values()),
            **{name: _digest(*parts) for name, parts in run.source.identity(run.items).items()},
        }

    def _differences(self, saved: dict[str, str]) -> str:
        return "; ".join(
            f"{name} was {saved.get(name, 'missing')}, now {value}"
            for name, value in self.fingerprint.items()
            if saved.get(name) != value
        )


def is_checkpoint(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a checkpoint of a run."""
    try:
        return "fingerprint" in load_tree(path)
    except (OSError, ValueError):
        return False


def _digest(*parts: Tensor | bytes) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else _bytes_of(part))
    return digest.hexdigest()


def _bytes_of(tensor: Tensor) -> memoryview:
    return tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data


def _method_text(method: Method) -> str:
    """Return the name of a method, and for those of plug-ins also a digest of their formula."""
    return method.name if method.name in BUILT_IN_METHODS else f"{method.name}, {_name(method.terms)}"


def _name(thing: Any) -> str:
    """Return a text that identifies a function and is the same in every process (so without an address)."""
    if isinstance(thing, str):
        return thing
    if isinstance(thing, partial):
        return f"{_name(thing.func)}{thing.args}{thing.keywords}"
    name = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"
    code = getattr(thing, "__code__", None)
    if code is None:
        return name
    constants = [constant for constant in code.co_consts if not hasattr(constant, "co_code")]
    return f"{name} ({_digest(repr((code.co_code, code.co_names, constants)).encode())})"
