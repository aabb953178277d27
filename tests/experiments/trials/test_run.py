"""Specifications of trials, and trials that are run."""

import json
from dataclasses import replace

import pytest

from confdiff.experiments.trials.record import TrialRecord
from confdiff.experiments.trials.run import evaluation_epochs, pairs_for, recipe_for, run_trial
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.methods import METHODS
from confdiff.tasks import TaskSpec, make_task

TASK = TaskSpec("digits", model="linear", n_pairs=60)
QUICK = TrialSpec(TASK, "confdiff-abs", 3)


def test_a_key_says_everything_and_nothing_else():
    keys = {QUICK.key}
    for other in (
        replace(QUICK, method="confdiff-relu"),
        replace(QUICK, epochs=4),
        replace(QUICK, task=replace(TASK, seed=1)),
        replace(QUICK, task=replace(TASK, prior=0.4)),
        replace(QUICK, task=replace(TASK, protocol="authors")),
        replace(QUICK, task=replace(TASK, fraction=0.5)),
    ):
        assert other.key not in keys
        keys.add(other.key)
    assert TrialSpec(TASK, "confdiff-abs", 3).key == QUICK.key
    with pytest.raises(ValueError, match="unknown method"):
        TrialSpec(TASK, "abs")


def test_a_trial_is_a_function_of_its_specification():
    first, same = run_trial(QUICK), run_trial(QUICK)
    assert first.curve == same.curve
    assert (first.key, first.spec) == (QUICK.key, QUICK)
    accuracies = [accuracy for _, accuracy in first.curve]
    assert first.accuracy == pytest.approx(sum(accuracies) / 3, abs=1e-4)
    assert TrialRecord.from_json(json.loads(json.dumps(first.to_json()))) == first


@pytest.mark.parametrize("method", [name for name, row in METHODS.items() if row.classifies])
def test_every_method_gets_the_pairs_that_it_takes(method):
    task = make_task(TASK)
    pairs = pairs_for(method, task)
    y, y_prime = pairs.targets("labels")
    assert (
        bool((y >= y_prime).all()) == (METHODS[method].learns_from == "order") or "same" in METHODS[method].learns_from
    )
    pairs.targets(METHODS[method].learns_from)
    passes = recipe_for(TrialSpec(replace(TASK, protocol="authors"), method)).forward_passes
    assert passes == (1 if METHODS[method].learns_from.startswith("order") else 2)


def test_the_last_ten_epochs_are_always_evaluation_epochs():
    for epochs in (1, 5, 10, 11, 60, 200):
        epochs_evaluated = evaluation_epochs(epochs)
        assert set(range(max(1, epochs - 9), epochs + 1)) <= set(epochs_evaluated)
        assert epochs_evaluated == sorted(set(epochs_evaluated))
        assert max(epochs_evaluated) == epochs
    assert len(evaluation_epochs(200)) < 35


def test_the_prior_can_be_withheld_from_methods_that_do_without():
    given, withheld = (TrialSpec(TASK, "confdiff-regression", 2, flag) for flag in (True, False))
    assert given.key != withheld.key
    assert "prior_is_told" not in run_trial(given).to_json()
    assert run_trial(withheld).to_json()["prior_is_told"] is False
    with pytest.raises(ValueError, match="'confdiff-abs' needs the class prior"):
        TrialSpec(TASK, "confdiff-abs", 2, False)
