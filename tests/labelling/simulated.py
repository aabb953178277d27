"""Studies whose answers simulated judges gave, directly and without a server."""

import uuid

import numpy as np

from confdiff.labelling import StudySettings, create_study
from confdiff.labelling.answering import Answer
from confdiff.labelling.simulating import SimulatedJudge

JUDGES = (
    SimulatedJudge("Ann", noise=0.1),
    SimulatedJudge("Bob", scale=0.5, noise=0.1),
    SimulatedJudge("Cleo", noise=0.1, side_bias=0.3),
    SimulatedJudge("Dan", noise=0.1, cannot_say=0.2),
)
SETTINGS = StudySettings(question="Which is larger?", title="Sizes", judges=len(JUDGES), same_class=0.05)


def simulated_study(path, *, n_items=40, n_answers=None, judges=JUDGES, settings=SETTINGS, reverse=False, seed=0):
    """Return a study of items with the values 0 to 1, in their order, after some answers."""
    items = {"id": [f"item-{k:03d}" for k in range(n_items)], "text": [f"Text {k}" for k in range(n_items)]}
    study = create_study(path, items, settings)
    for judge in judges:
        study.invite(judge.name, kind="simulated")
    answer_directly(study, judges, n_items, n_answers, reverse=reverse, seed=seed)
    return study


def answer_directly(study, judges, n_items, n_answers=None, *, reverse=False, seed=0):
    """Let judges take turns until all questions, or some of them, are answered."""
    rng = np.random.default_rng(seed)
    values = np.linspace(0, 1, n_items)[:: -1 if reverse else 1]
    count = 0
    idle = 0
    while idle < len(judges) and (n_answers is None or count < n_answers):
        judge = judges[count % len(judges)] if not idle else judges[(count + idle) % len(judges)]
        assignment = study.next_assignment(judge.name)
        if assignment is None:
            idle += 1
            continue
        idle = 0
        shown_right = assignment.right if assignment.shown_left == assignment.left else assignment.left
        answer = judge.answer(
            values[assignment.shown_left], values[shown_right], assignment.question, study.settings.points, rng
        )
        study.answer(judge.name, Answer(assignment.id, str(uuid.uuid4()), **{"grade": None, **answer}))
        count += 1
    return count
