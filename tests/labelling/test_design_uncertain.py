"""Pairs of uncertain items, and plans that are made again while answers come in."""

import threading
import uuid

import numpy as np
import pytest

from confdiff.labelling import StudySettings, create_study
from confdiff.labelling.answering import Answer
from confdiff.labelling.design import design_pairs
from confdiff.labelling.design.uncertain import replanned, uncertain_pairs
from confdiff.labelling.refitting import Refitter, background_refits, uncertainty_of


def test_pairs_are_new_and_of_uncertain_items():
    rng = np.random.default_rng(0)
    uncertainty = rng.random(90)
    taken = rng.integers(0, 90, (400, 2))
    pairs = uncertain_pairs(uncertainty, 40, taken, rng)
    asked = {tuple(sorted(pair)) for pair in taken.tolist()}
    drawn = {tuple(sorted(pair)) for pair in pairs.tolist()}
    assert len(drawn) == 40
    assert not asked & drawn
    assert uncertainty[pairs].min() >= np.sort(uncertainty)[60]
    assert np.bincount(pairs.ravel()).max() <= 6  # 40 pairs of 30 items, some of which have few free partners


def test_all_pairs_of_few_items_can_be_used_up():
    pairs = uncertain_pairs(np.ones(5), 20, np.array([[0, 1]]), np.random.default_rng(1))
    assert len({tuple(sorted(pair)) for pair in pairs.tolist()}) == 9


def test_reserve_repeats_and_their_originals_remain():
    plan = design_pairs(60, judges=2, gold=[(0, 1)], same_class=0.1, seed=1)
    asked, free = plan[: len(plan) // 2], plan[len(plan) // 2 :]
    fresh = replanned(asked, free, np.random.default_rng(1).random(60), seed=0)
    assert len(fresh) == len(free)
    assert [question.slot for question in fresh] == [question.slot for question in free]
    repeated = {(q.slot, frozenset((q.left, q.right))) for q in plan if q.kind == "repeat"}
    for before, after in zip(free, fresh, strict=True):
        is_original = (before.slot, frozenset((before.left, before.right))) in repeated
        if before.kind in ("random", "repeat", "gold", "same-class") or is_original:
            assert after == before
        else:
            assert (after.kind, after.question) == ("adaptive", "difference")


def sizes_study(address, **options):
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=40) for name in "abc"}
    settings = StudySettings(question="?", judges=2, pairs_per_item=6, design="uncertain", **options)
    return create_study(address, {"id": [f"item {k}" for k in range(40)], **columns}, settings)


def probability(study):
    return 1 / (1 + np.exp(-3 * study.items()["a"]))


def answer_next(study, name, p):
    """Answer one question truthfully; return whether there was one."""
    assignment = study.next_assignment(name)
    if assignment is None:
        return False
    shown_right = assignment.left + assignment.right - assignment.shown_left
    grade = float(np.round((p[shown_right] - p[assignment.shown_left]) * 3) / 3)
    study.answer(name, Answer(assignment.id, str(uuid.uuid4()), grade=grade))
    return True


def test_the_second_half_is_about_uncertain_items(study_address):
    study = sizes_study(study_address)
    p = probability(study)
    for name in ("Ann", "Ben"):
        study.invite(name)
    n_questions = len(study.plan())
    refitter = Refitter(study)
    refits = []
    while any([answer_next(study, "Ann", p), answer_next(study, "Ben", p)]):
        if refitter.refit():
            refits.append(study.progress("Ann").answered + study.progress("Ben").answered)
    assert refits[0] == n_questions / 2
    assert len(refits) >= 4
    answers = study.answers()
    assert len(answers["kind"]) == n_questions
    rows = {name: row for row, name in enumerate(study.item_ids())}
    pairs = np.array([[rows[a], rows[b]] for a, b in zip(answers["left"], answers["right"], strict=True)])
    uncertainty = (p * (1 - p))[pairs].mean(axis=1)
    assert uncertainty[answers["kind"] == "adaptive"].mean() > uncertainty[answers["kind"] == "design"].mean() + 0.03
    adaptive = {tuple(sorted(pair)) for pair in pairs[answers["kind"] == "adaptive"].tolist()}
    others = {tuple(sorted(pair)) for pair in pairs[answers["kind"] != "adaptive"].tolist()}
    assert len(adaptive) == (answers["kind"] == "adaptive").sum()
    assert not adaptive & others
    assert (answers["kind"] == "random").sum() == round(0.12 * n_questions)


def test_questions_that_somebody_has_open_are_not_planned_again(study_address):
    study = sizes_study(study_address)
    study.invite("Ann")
    shown = study.next_assignment("Ann")
    seen = []

    def choose(asked, free):
        seen.append((len(asked), len(free)))
        return free

    n_questions = len(study.plan())
    study.replan_free(choose)
    assert seen == [(1, n_questions - 1)]
    assert len(study.plan()) == n_questions
    assert study.next_assignment("Ann") == shown


def test_nothing_is_planned_again_for_other_designs_or_pauses(tmp_path, closing_engines):
    settings = StudySettings(question="?", judges=1, pairs_per_item=4)
    study = create_study(tmp_path / "a.db", {"id": list(range(20)), "a": np.arange(20.0)}, settings)
    study.invite("Ann")
    p = np.linspace(0, 1, 20)
    while answer_next(study, "Ann", p):
        pass
    assert not Refitter(study).refit()


def test_items_without_features_keep_their_plan(tmp_path, closing_engines):
    for k in range(20):
        (tmp_path / f"{k}.png").touch()
    settings = StudySettings(
        question="?", judges=1, pairs_per_item=4, design="uncertain", kinds={"face": "image"}, media=str(tmp_path)
    )
    study = create_study(
        tmp_path / "a.db", {"id": [f"x{k}" for k in range(20)], "face": [f"{k}.png" for k in range(20)]}, settings
    )
    study.invite("Ann")
    p = np.linspace(0, 1, 20)
    plan = study.plan()
    while answer_next(study, "Ann", p):
        pass
    assert uncertainty_of(study) is None
    assert not Refitter(study).refit()
    assert study.plan() == plan


def test_a_thread_refits_while_the_block_runs(tmp_path, closing_engines):
    study = sizes_study(tmp_path / "a.db")
    p = probability(study)
    study.invite("Ann")
    while study.progress("Ann").answered < len(study.plan()) / 2:
        if not answer_next(study, "Ann", p):
            study.set_quota("Ann", len(study.plan()))
    with background_refits([study], seconds=0.02):
        deadline = threading.Event()
        for _ in range(500):
            if any(question.kind == "adaptive" for question in study.plan()):
                break
            deadline.wait(0.02)
    assert any(question.kind == "adaptive" for question in study.plan())
    assert "refits" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("design", ["balanced", "random"])
def test_no_thread_runs_for_other_designs(tmp_path, closing_engines, design):
    settings = StudySettings(question="?", judges=1, pairs_per_item=4, design=design)
    study = create_study(tmp_path / "a.db", {"id": list(range(20)), "a": np.arange(20.0)}, settings)
    with background_refits([study], seconds=0.01):
        assert "refits" not in {thread.name for thread in threading.enumerate()}
