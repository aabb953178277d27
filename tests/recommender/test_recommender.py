"""The recommender: interactions in, a protocol that leaks nothing, and known answers."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from confdiff.datasets import load_interactions
from confdiff.datasets.interactions import from_columns, read_interactions
from confdiff.experiments.plans.recommender_trial import RecommenderSpec
from confdiff.methods import METHODS
from confdiff.metrics import pairwise_accuracy
from confdiff.models import RECOMMENDERS
from confdiff.pairs import Pairs
from confdiff.recommender.confidence import grade_interactions
from confdiff.recommender.learning import (
    Learning,
    build_recommender,
    recommender_prior,
    scores_of,
    train_recommender,
    training_pairs,
)
from confdiff.recommender.protocol import evaluate, item_means, leave_one_out, user_pairs
from confdiff.recommender.saved import Recommender
from easy import checkerboard


def test_missing_and_repeated_rows_are_left_out_and_counted():
    data = from_columns(
        ["b", "a", "a", "b", None, "a"], [7, 7, 7, 8, 7, 9], [1, 2, 3, None, 5, 6], [10, 30, 20, 40, 50, 60]
    )
    assert (data.missing, data.repeated, len(data)) == (2, 1, 3)
    assert data.user_ids.tolist() == ["a", "b"]
    assert data.item_ids.tolist() == [7, 9]
    assert list(zip(data.users, data.items, data.strength, strict=True)) == [(1, 0, 1), (0, 0, 2), (0, 1, 6)]
    late = from_columns(["a", "a"], [7, 7], [2, 3])
    assert late.strength.tolist() == [3]  # without a time the last row
    with pytest.raises(ValueError, match="without a missing value"):
        from_columns([None], [1], [2])
    with pytest.raises(ValueError, match="one length"):
        from_columns([1, 2], [1], [2])


@pytest.mark.parametrize("dtype", [np.int64, str, object])
def test_users_are_found_by_exact_ids_of_any_type(dtype, tmp_path):
    big = 2**53
    data = from_columns(np.array([10, 10, big, big, big + 1]).astype(dtype), [0, 1, 0, 1, 2], [1, 2, 3, 4, 5])
    network = RECOMMENDERS["mf"](len(data.user_ids), len(data.item_ids))
    Recommender(network, "mf", data.user_ids, data.item_ids, {}).save(tmp_path / "saved")
    saved = Recommender.load(tmp_path / "saved")
    top = saved.top([str(big), str(big + 1)], k=1)
    assert [int(user) for user in top["user"]] == [big, big + 1]
    unseen = saved.top([big + 1], seen=from_columns([str(big), str(big + 1)], ["0", "2"], [1, 1]))
    assert sorted(unseen["item"].tolist()) == [0, 1]
    for stranger in ("1_0", "010", big + 2, str(big + 2)):
        with pytest.raises(ValueError, match="is not among the users in training"):
            saved.top([stranger])


def test_ids_that_floats_have_rounded_are_refused():
    with pytest.raises(ValueError, match=r"^the items: the id \d+ is a float, and floats of 2\*\*53 or more"):
        from_columns([1, 2, 3], [2.0**53, 7.0, None], [1, 2, 3])


def test_kuairec_s_published_columns(tmp_path):
    header = "user_id,video_id,play_duration,video_duration,time,date,timestamp,watch_ratio"
    rows = [
        "14,148,4381,6067,2020-07-05 05:27:48.378,20200705.0,1593898068.378,0.722103",
        "14,183,11635,6100,,,,1.907377",
    ]
    (tmp_path / "small_matrix.csv").write_text("\n".join([header, *rows, rows[0].replace("0.722103", "3.5")]) + "\n")
    data = load_interactions("kuairec", folder=tmp_path)
    assert (len(data), data.missing, data.repeated) == (1, 1, 1)
    assert data.time.tolist() == [1593898068.378]
    with pytest.raises(ValueError, match="must have the columns user, item"):
        read_interactions(tmp_path / "small_matrix.csv", user="user", item="item", strength="watch_ratio")


def test_absent_files_are_named(tmp_path, monkeypatch):
    monkeypatch.delenv("CONFDIFF_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"put small_matrix\.csv or small_matrix_subset\.csv into"):
        load_interactions("kuairec", folder=tmp_path)


def test_strengths_become_confidences():
    data = from_columns([0, 0, 0, 0], [0, 1, 2, 3], [0.0, 1.0, 2.0, 5.0])
    watched = grade_interactions(data)
    assert watched.confidence.tolist() == [0, 0.5, 1, 1]
    assert watched.positive.tolist() == [False, False, False, True]  # above 2, not at 2
    assert grade_interactions(data, "min-max").confidence.tolist() == pytest.approx([0, 0.2, 0.4, 1])
    ranked = grade_interactions(data, "rank", threshold=0.5)
    assert ranked.confidence.tolist() == [0.125, 0.375, 0.625, 0.875]
    assert ranked.positive.tolist() == [False, True, True, True]
    with pytest.raises(ValueError, match="strengths must differ"):
        grade_interactions(from_columns([0, 0], [0, 1], [2, 2]), "min-max")
    with pytest.raises(ValueError, match="at least 0"):
        grade_interactions(from_columns([0], [0], [-1]))


@pytest.mark.parametrize("negatives", ["observed", "unobserved"])
def test_nothing_held_out_is_in_training(negatives):
    data = checkerboard()
    if negatives == "unobserved":  # leave a third out
        kept = np.random.default_rng(1).random(len(data)) < 0.6
        data = from_columns(data.users[kept], data.items[kept], data.strength[kept], data.time[kept])
    graded = grade_interactions(data)
    split = leave_one_out(graded, n_negatives=5, negatives=negatives)
    trained = set(zip(data.users[split.train].tolist(), data.items[split.train].tolist(), strict=True))
    likes = {(u, i) for u, i, p in zip(data.users, data.items, graded.positive, strict=True) if p}
    assert split.candidates.shape == (len(split.users), 6)
    for user, (positive, *others) in zip(split.users.tolist(), split.candidates.tolist(), strict=True):
        assert (user, positive) in likes
        assert len(set(others)) == 5
        assert not {(user, item) for item in [positive, *others]} & trained
        assert not {(user, item) for item in others} & likes
        own = (data.users == user) & graded.positive
        assert positive == data.items[own][data.time[own].argmax()]  # the latest
    assert (split.seen[data.users[split.train], data.items[split.train]]).all()
    assert split.seen.sum() == len(split.train)


def test_users_without_a_positive_are_not_evaluated():
    data = from_columns([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [3, 0, 0, 0, 0, 0])
    split = leave_one_out(grade_interactions(data), n_negatives=2, negatives="observed")
    assert split.users.tolist() == [0]
    assert len(split.train) == 3  # the other user's
    with pytest.raises(ValueError, match="pass a smaller number with n_negatives=N"):
        leave_one_out(grade_interactions(data), n_negatives=3, negatives="observed")


def test_without_a_time_the_seed_decides():
    data = checkerboard(time=False)
    graded = grade_interactions(data)
    first, same, other = (leave_one_out(graded, n_negatives=5, negatives="observed", seed=seed) for seed in (0, 0, 1))
    assert (first.candidates == same.candidates).all()
    assert (first.candidates[:, 0] != other.candidates[:, 0]).any()


def test_pairs_are_of_one_user_and_each_interaction_is_in_one():
    graded = grade_interactions(checkerboard(n_users=7, n_items=9))
    rows = np.arange(len(graded.interactions))[3:]
    pairs = user_pairs(graded, rows)
    users = pairs.items[:, 0]
    assert (users[pairs.left] == users[pairs.right]).all()
    assert len(set(torch.cat([pairs.left, pairs.right]).tolist())) == 2 * len(pairs) == 6 + 6 * 8  # of 9, one is left
    r = pairs.posteriors
    assert torch.equal(pairs.difference, r[pairs.right] - r[pairs.left])
    assert len(user_pairs(graded, rows, partners=3)) == 3 * len(pairs)


METHODS_OF_TABLE_3 = [
    "bpr",
    "mrl",
    "oracle-hard",
    "oracle-soft",
    "pcomp-teacher",
    "confdiff-abs",
    "confdiff-regression",
]


@pytest.mark.parametrize("method", METHODS_OF_TABLE_3)
def test_the_certain_recommendations_are_found(method):
    graded = grade_interactions(checkerboard())
    split = leave_one_out(graded, n_negatives=8, negatives="observed")
    spec = Learning(method, epochs=120, model="mf")
    model = build_recommender("mf", graded, 0)
    train_recommender(model, user_pairs(graded, split.train, partners=4), spec)
    measures = evaluate(lambda cells: scores_of(model, cells), split, at=1)
    assert measures["hr@1"] > 0.9
    assert measures["full hr@1"] > 0.5


def test_constant_scores_have_the_hit_rate_of_chance():
    graded = grade_interactions(checkerboard(n_users=40, n_items=120))
    split = leave_one_out(graded, n_negatives=49, negatives="observed")
    measures = evaluate(lambda cells: torch.zeros(len(cells)), split)
    assert measures["hr@10"] == pytest.approx(0.2) == split.chance
    unseen = (~split.seen[split.users]).sum(axis=1)
    assert measures["full hr@10"] == pytest.approx((10 / unseen).mean())


def test_the_means_of_items_are_those_of_training():
    graded = grade_interactions(from_columns([0, 1, 2, 0], [0, 0, 0, 1], [2.0, 1.0, 0.0, 2.0]))
    means = item_means(graded, np.array([0, 1, 3]))(torch.tensor([[5, 0], [0, 1]]))
    everyone = (1 + 0.5 + 1) / 3
    assert means.tolist() == pytest.approx([(1 + 0.5 + everyone) / 3, (1 + everyone) / 2])


def test_perfect_scores_have_a_hit_rate_of_1():
    graded = grade_interactions(checkerboard())
    split = leave_one_out(graded, n_negatives=5, negatives="observed")
    measures = evaluate(lambda cells: ((cells.sum(1) % 2) == 0).float(), split, at=1)
    assert measures["hr@1"] == 1
    assert measures["full ndcg@1"] == 1  # all that a user likes but the held-out one is seen


def test_priors_are_global_or_the_user_s_own():
    pairs = Pairs(
        torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]]),
        [0, 2],
        [1, 3],
        [0.5, 0.1],
        posteriors=[0.2, 0.6, 0.1, 0.3],
        labels=[0, 1, 0, 0],
    )
    spec = Learning("confdiff-abs")
    assert recommender_prior(pairs, spec) == pytest.approx(0.3)
    own = recommender_prior(pairs, Learning("confdiff-abs", prior="user"))
    assert own.tolist() == pytest.approx([0.4, 0.2])
    assert recommender_prior(pairs, Learning("pcomp-teacher", prior="user")) == pytest.approx(0.25)


def test_training_stops_early_on_the_validation_set():
    graded = grade_interactions(checkerboard())
    rows = leave_one_out(graded, n_negatives=8, negatives="observed").train
    learning = Learning("confdiff-regression", epochs=60, model="mf", patience=2)
    pairs, validation = training_pairs(graded, rows, learning)
    training_cells = {tuple(cell) for cell in pairs.compact().items.tolist()}
    validation_cells = {tuple(cell) for cell in validation.compact().items.tolist()}
    assert not training_cells & validation_cells
    assert len(validation_cells) == pytest.approx(len(rows) / 10, rel=0.5)
    model = build_recommender("mf", graded, 0)
    history = train_recommender(model, pairs, learning, validation=validation)
    orders = [epoch["pairwise_accuracy"] for epoch in history]
    scores = scores_of(model, validation.items)
    difference = scores[validation.right] - scores[validation.left]
    assert pairwise_accuracy(difference, validation.difference) == max(
        orders
    )  # the weights are those of the best epoch
    assert len(history) == 60 or len(history) - 1 - orders.index(max(orders)) == 2
    assert training_pairs(graded, rows, replace(learning, patience=None))[1] is None


def test_a_key_depends_on_every_setting():
    base = RecommenderSpec("bpr", dataset="kuairec", source="small_matrix.csv")
    others = [
        RecommenderSpec("bpr", dataset="jester", source="jester1.npz"),
        replace(base, source="small_matrix_subset.csv"),
        replace(base, method="mrl"),
        replace(base, seed=1),
        replace(base, prior="user"),
        replace(base, patience=3),
    ]
    assert len({spec.key for spec in [base, *others]}) == 7
    assert METHODS["bpr"].classifies is False
    with pytest.raises(ValueError, match="unknown model 'ncf'"):
        replace(base, model="ncf")
    with pytest.raises(ValueError, match=r"unknown file of jester 'small_matrix\.csv'"):
        replace(base, dataset="jester")


def test_more_partners_than_fit_into_memory_are_refused():
    graded = grade_interactions(checkerboard(), "min-max")
    with pytest.raises(ValueError, match=r"partners must be smaller: .* need about 2,304,000,000,000 bytes of memory"):
        user_pairs(graded, np.arange(720), partners=100_000_000)
