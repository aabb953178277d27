"""Records of trials on real tables that were never run, for tests of reports."""

from confdiff.experiments.plans.real_table_learners import LEARNERS
from confdiff.experiments.trials.table_record import TableRecord, TableSpec


def table_spec(learner, *, version=None, **changes):
    """The specification of a trial on Adult, with the version of the learner as it is now."""
    values = {"dataset": "adult", "balance": "natural", "differences": "exact", "pairs": 300, "seed": 0}
    current = LEARNERS[learner].version if version is None else version
    return TableSpec(learner=learner, version=current, **(values | changes))


def table_record(learner, accuracy=0.8, *, auc=0.9, chosen=None, **changes):
    """The record of a trial that was never run."""
    spec = table_spec(learner, **changes)
    return TableRecord(
        key=spec.key,
        spec=spec,
        prior=0.24 if spec.balance == "natural" else 0.5,
        n_pairs=min(spec.pairs, 1_000),
        n_test=500,
        accuracy=accuracy,
        auc=auc,
        brier=0.1,
        calibration_error=0.02,
        teacher_accuracy=0.85,
        seconds=1.5,
        processor_seconds=1.0,
        chosen=chosen,
    )
