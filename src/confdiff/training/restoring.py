"""Restore the state of a training run from a checkpoint, after a check of every value."""

import math
from typing import Any

import torch
from torch import Tensor

from confdiff.io.decoding import check_object, decode
from confdiff.io.tensors import check_tensor, check_tensors, check_tree
from confdiff.training.run import History, Run
from confdiff.validation import check_count, check_number

_PROBE_SHAPE = (2, 3)


def restore(run: Run, state: dict[str, Any]) -> None:
    """Set a run to the state of a checkpoint of the same run.

    Parameters
    ----------
    run : Run
        A new run.
    state : dict
        The contents of the checkpoint, as they were read. Nothing is set unless everything fits the run.

    Raises
    ------
    ValueError, KeyError, RuntimeError
        If the state is not one of this run.
    """
    step = check_count("step", state["step"], least=0)
    if step > run.total_steps:
        raise ValueError(f"step must be at most {run.total_steps}, the steps of the run; got {step}")
    risk_sum = check_number("risk_sum", state["risk_sum"])
    seconds = check_number("seconds", state["seconds"], least=0)
    history = _checked_history(state["history"], step // run.steps_per_epoch)
    weights = check_tensors("the weights", state["model"], run.model.state_dict())
    best = _checked_best(run, state["best"])
    optimizer = _checked_optimizer(run, state["optimizer"])
    _restore_generators(state)
    if run.companion is not None:
        run.companion.load_state(check_tree("companion", state["companion"]))
    run.model.load_state_dict(weights)
    run.optimizer.load_state_dict(optimizer)
    run.step = step
    run.risk_sum = risk_sum
    run.seconds = seconds
    run.history = history
    run.best = best


def _checked_history(history: Any, epochs: int) -> History:
    """Return the records of the finished epochs; an evaluation may have returned NaN."""
    records = list(decode(tuple[dict[str, Any], ...], history, "history"))
    if len(records) != epochs:
        raise ValueError(f"history must have a record for each of {epochs} epochs; got {len(records)}")
    for record in records:
        if not {"epoch", "risk", "seconds"} <= set(record) or not all(map(_is_number, record.values())):
            raise ValueError(
                f"a record of history must hold epoch, risk, seconds and other numbers; got {record!r:.60}"
            )
    return records


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _checked_best(run: Run, best: Any) -> dict[str, Any] | None:
    """Return the best value so far, the evaluations since and the weights; None if there is none."""
    if best is None:
        return None
    best = check_object("best", best)
    if run.keep_best is None or not _is_number(best["value"]):
        raise ValueError(f"best must hold a number that this run maximises; got {best['value']!r:.60}")
    weights = check_tensors("the best weights", best["model"], run.predictor.state_dict())
    return {"value": best["value"], "since": check_count("since", best["since"], least=0), "model": weights}


def _checked_optimizer(run: Run, saved: Any) -> dict[str, Any]:
    """Return the state of the optimiser, whose groups and tensors must be those of this run."""
    saved = check_object("optimizer", saved)
    groups = [
        check_object("a group", group) for group in decode(tuple[Any, ...], saved["param_groups"], "param_groups")
    ]
    own_groups = run.optimizer.state_dict()["param_groups"]
    if len(groups) != len(own_groups) or not all(map(_has_form_of, groups, own_groups)):
        raise ValueError("the settings of its optimiser are not those of this run")
    if [group["params"] for group in groups] != [group["params"] for group in own_groups]:
        raise ValueError("its optimiser has other parameters than this run")
    form = _optimizer_form(run)
    states: dict[Any, Any] = check_tree("the state of the optimiser", saved["state"])
    for index, state in states.items():
        if not isinstance(index, int) or not 0 <= index < len(run.parameters):
            raise ValueError(f"its optimiser has a state of a parameter {index!r:.60}, which does not exist")
        _check_parameter_state(check_tree("a state of a parameter", state), form, run.parameters[index])
    return {"state": states, "param_groups": list(groups)}


def _has_form_of(value: Any, own: Any) -> bool:
    """Return whether a setting has the type of the run's own one; lists, as in JSON, are tuples too."""
    if isinstance(own, dict):
        return (
            isinstance(value, dict)
            and set(value) == set(own)
            and all(_has_form_of(value[key], own[key]) for key in own)
        )
    if isinstance(own, list | tuple):
        return isinstance(value, list) and len(value) == len(own) and all(map(_has_form_of, value, own))
    if isinstance(own, Tensor):
        return isinstance(value, Tensor) and value.shape == own.shape
    if _is_number(own):
        return _is_number(value) and math.isfinite(value)
    return type(value) is type(own)


def _optimizer_form(run: Run) -> dict[str, Any]:
    """Return the state that the optimiser keeps for one parameter, by a step on a small one."""
    probe = torch.zeros(_PROBE_SHAPE, requires_grad=True)
    probe.grad = torch.zeros(_PROBE_SHAPE)
    optimizer = run.new_optimizer([probe])
    optimizer.step()
    form: dict[str, Any] = dict(optimizer.state[probe])
    return form


def _check_parameter_state(state: dict[str, Any], form: dict[str, Any], parameter: Tensor) -> None:
    if set(state) != set(form):
        raise ValueError(f"its optimiser keeps {sorted(map(str, state))}; expected {sorted(form)}")
    for name, own in form.items():
        if not isinstance(own, Tensor):
            if not _has_form_of(state[name], own):
                raise ValueError(f"{name} of its optimiser must be like {own!r:.60}; got {state[name]!r:.60}")
        elif own.shape == _PROBE_SHAPE:
            check_tensor(f"{name} of its optimiser", state[name], parameter)
        else:
            check_tensor(f"{name} of its optimiser", state[name], own)


def _restore_generators(state: dict[str, Any]) -> None:
    """Set the random generators; PyTorch refuses a state that is not one of its own."""
    torch.set_rng_state(check_tensor("chance", state["chance"].view(-1), torch.get_rng_state()))
    if state["chance_cuda"]:
        torch.cuda.set_rng_state_all(state["chance_cuda"])
