"""Records of trials that were never run, for tests of reports."""

from dataclasses import replace

from confdiff.experiments.trials.record import TrialRecord
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec


def record_of(spec, accuracy=0.9, **changes):
    """The record of a specification, with an accuracy and other fields."""
    values = {"seconds": 2.0, "teacher_accuracy": 0.9, "network": "mlp", "curve": ((1, 0.5), (spec.epochs, accuracy))}
    return TrialRecord(key=spec.key, spec=spec, accuracy=accuracy, **(values | changes))


def trial(method, seed, accuracy, *, dataset="usps", prior=0.2, epochs=200, prior_given=True, **options):
    """The record of a trial of the authors' protocol."""
    task = TaskSpec(dataset, prior, "authors", seed, **options)
    return record_of(TrialSpec(task, method, epochs, prior_given), accuracy)


def with_task(record, **changes):
    """The same record of another task."""
    return replace(record, spec=replace(record.spec, task=replace(record.spec.task, **changes)))
