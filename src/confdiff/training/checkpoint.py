"""A file that is kept while training, from which a run goes on as if it had never been stopped."""

import hashlib
import os
import time
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from confdiff.io.tensors import load_tree, save_tree
from confdiff.training.run import Run


@dataclass
class Checkpoint:
    """A file with everything that decides how a run goes on."""

    path: str | os.PathLike[str]
    every: float
    run: Run
    evaluated: str
    saved_at: float = field(default_factory=time.monotonic)
    saved_step: int = -1

    def __post_init__(self) -> None:
        if Path(self.path).is_dir():
            raise ValueError(f"checkpoint must name a file; {os.fspath(self.path)} is a folder.")
        self.fingerprint = self._fingerprint()

    def resume(self) -> None:
        """Go on from the file where there is one."""
        if not Path(self.path).exists():
            return
        run, state = self.run, load_tree(self.path)
        if state.get("fingerprint") != self.fingerprint:
            raise ValueError(
                f"the checkpoint {os.fspath(self.path)} belongs to another run: {self._what_differs(state)}. "
                "Delete it to start anew, or name another file."
            )
        run.model.load_state_dict(state["model"])
        run.optimizer.load_state_dict(state["optimizer"])
        run.step, run.risk_sum, run.seconds = state["step"], state["risk_sum"], state["seconds"]
        run.history, run.best = state["history"], state["best"]
        self.saved_step = run.step
        if run.companion is not None:
            run.companion.load_state(state["companion"])
        torch.set_rng_state(state["chance"])
        if state["chance_cuda"]:
            torch.cuda.set_rng_state_all(state["chance_cuda"])

    def save_if_due(self) -> None:
        """Save where the last time is long enough ago."""
        if time.monotonic() - self.saved_at >= self.every:
            self.save()

    def save(self) -> None:
        """Save now, unless that was done after this very step."""
        if self.run.step == self.saved_step:
            return
        run = self.run
        run.count_time()
        state = {
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
        self.saved_at, self.saved_step = time.monotonic(), run.step

    def _fingerprint(self) -> dict[str, str]:
        """What makes two runs the same: a short text for each part, so that a difference can be named."""
        run = self.run
        recipe = asdict(run.recipe) | {"optimizer": _name(run.recipe.optimizer), "device": run.device.type}
        return {
            "method": run.method.name,
            "loss": _name(run.loss),
            "evaluated": self.evaluated,
            "prior": "one for each pair" if isinstance(run.prior, Tensor) else str(run.prior),
            **{name: str(value) for name, value in recipe.items()},
            "network": _digest(repr(run.model).encode()),
            "first weights of the network": _digest(*run.model.state_dict().values()),
            **{name: _digest(*parts) for name, parts in run.source.identity(run.items).items()},
        }

    def _what_differs(self, state: dict[str, Any]) -> str:
        there = state.get("fingerprint", {})
        return "; ".join(
            f"{name} was {there.get(name, 'not there')}, now {value}"
            for name, value in self.fingerprint.items()
            if there.get(name) != value
        )


def _digest(*parts: Tensor | bytes) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(
            part if isinstance(part, bytes) else part.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data
        )
    return digest.hexdigest()


def _name(thing: Any) -> str:
    """A text that tells one function from another, the same in every process (so without an address)."""
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
