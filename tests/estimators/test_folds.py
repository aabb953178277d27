"""The folds in which candidates are compared."""

import numpy as np
import pytest

from confdiff import ConfDiffLogisticRegression, Pairs
from confdiff.estimators.folds import join_pairs, over_distinct_items, plan_folds


def judged_topics(n_topics, n_items=12, n_pairs=40, seed=0):
    """Return pairs within topics whose items share features that say much about the topic only."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(n_topics), n_items)
    general = rng.normal(size=len(topic))
    hints = np.zeros((len(topic), 10 * n_topics))
    for number in range(n_topics):
        hints[topic == number, 10 * number : 10 * number + 10] = rng.normal(size=(n_items, 10))
    score = general + hints @ rng.normal(size=hints.shape[1])
    start = n_items * np.repeat(np.arange(n_topics), n_pairs)
    first = rng.integers(0, n_items, len(start))
    second = (first + rng.integers(1, n_items, len(start))) % n_items
    left, right = start + first, start + second
    c = np.tanh((score[right] - score[left]) / 3)
    return Pairs(np.column_stack([general, hints]), left, right, difference=c)


def test_the_table_says_what_is_held_out():
    topics = judged_topics(n_topics=12)
    plan = plan_folds(topics, 4, seed=0)
    assert plan.held_out == "connected components"
    assert np.array_equal(plan.units, topics.components())
    one_topic = plan_folds(judged_topics(n_topics=1), 4, seed=0)
    assert (one_topic.held_out, one_topic.units) == ("items", None)
    given = plan_folds(topics, 4, seed=0, units=np.arange(len(topics)))
    assert given.held_out == "units"


def test_no_component_is_trained_and_tested():
    topics = judged_topics(n_topics=12)
    component = topics.components()
    for training, test in plan_folds(topics, 4, seed=0).folds:
        assert not set(component[training]) & set(component[test])


def test_the_penalty_suits_new_components():
    topics = judged_topics(n_topics=20)
    by_items = [(rows[rows % 4 != fold], rows[rows % 4 == fold]) for fold in range(4) for rows in [np.arange(800)]]
    strong = ConfDiffLogisticRegression(link="preference", C="auto").fit(topics)
    weak = ConfDiffLogisticRegression(link="preference", C="auto", cv=by_items).fit(topics)
    assert strong.C_ < weak.C_
    assert strong.C_search_.best.r2 < weak.C_search_.best.r2 - 0.1


@pytest.mark.parametrize("count", [1, 0])
def test_too_few_folds(count):
    with pytest.raises(ValueError, match="folds must be"):
        plan_folds(judged_topics(n_topics=2), count, seed=0)


def test_joined_pairs_keep_annotators_by_name():
    items = np.arange(6.0).reshape(3, 2)
    first = Pairs(items, [0, 1], [1, 2], [0.1, 0.2], annotator=["eve", "ann"], side=[1, -1])
    second = Pairs(items, [2], [0], [0.3], annotator=["eve"], side=[0])
    joined = over_distinct_items(join_pairs(first, second))
    assert joined.annotators.tolist() == ["eve", "ann", "eve"]
    assert joined.side.tolist() == [1, -1, 0]
    assert join_pairs(first, Pairs(items, [2], [0], [0.3])).annotators is None
