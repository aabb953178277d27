"""Estimators that learn who judged."""

import json

import numpy as np
import pytest

from confdiff import (
    ConfDiffAuto,
    ConfDiffBoosting,
    ConfDiffClassifier,
    ConfDiffLogisticRegression,
    Pairs,
    StreamedPairs,
)
from confdiff.methods import METHODS

N_ITEMS = 200
N_ANNOTATORS = 5
ESTIMATORS = {
    "linear": ConfDiffLogisticRegression(prior=0.5),
    "linear without a prior": ConfDiffLogisticRegression(),
    "boosting": ConfDiffBoosting(prior=0.5, max_iter=40),
    "unbiased boosting": ConfDiffBoosting("confdiff-unbiased", prior=0.5, max_iter=40),
    "network": ConfDiffClassifier(prior=0.5, hidden=(8,)),
    "unbiased network": ConfDiffClassifier("confdiff-unbiased", prior=0.5, hidden=(8,)),
    "scores": ConfDiffLogisticRegression(link="score"),
}
pytestmark = pytest.mark.filterwarnings("ignore:the differences")


@pytest.fixture(scope="module")
def judged():
    """Return pairs, answers, annotators and sides, the true scales, and the posteriors of items."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(N_ITEMS, 3))
    p = 1 / (1 + np.exp(-2 * items[:, 0]))
    n = 600
    rows = rng.integers(0, N_ITEMS, (n, 2))
    who = np.arange(n) % N_ANNOTATORS
    scale = np.linspace(0.4, 1.6, N_ANNOTATORS)
    side = rng.choice([-1, 1], n)
    bias = np.linspace(-0.2, 0.2, N_ANNOTATORS)
    c = scale[who] * (p[rows[:, 1]] - p[rows[:, 0]]) + bias[who] * side + 0.1 * rng.normal(size=n)
    data = {"pairs": rows, "c": c.clip(-1, 1), "items": items, "annotators": who, "side": side}
    return data, scale, p


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scales_and_biases_are_recovered_and_saved(name, judged):
    data, scale, _ = judged
    model = ESTIMATORS[name].fit(**data)
    estimates = model.annotators_
    assert estimates.model == "full"
    assert np.corrcoef(estimates.scale, scale)[0, 1] > 0.95
    assert np.corrcoef(estimates.bias, np.arange(N_ANNOTATORS))[0, 1] > 0.95
    assert np.corrcoef(model.decision_function(data["items"]), data["items"][:, 0])[0, 1] > 0.8
    state = model.to_state()
    json.dumps({key: value for key, value in state.items() if key != "weights"})
    restored = type(model).from_state(state).annotators_
    np.testing.assert_array_equal(restored.scale, estimates.scale)
    assert restored.statement == estimates.statement


def test_the_model_of_annotators_improves_probabilities(judged):
    data, _, p = judged
    errors = {}
    for model in ("pooled", "full"):
        learner = ConfDiffLogisticRegression(C=100.0, annotator_model=model).fit(**data)
        errors[model] = np.abs(learner.predict_proba(data["items"])[:, 1] - p).mean()
    assert errors["full"] < errors["pooled"] - 0.005


def test_auto_estimates_annotators_once(judged):
    data, scale, _ = judged
    model = ConfDiffAuto(candidates=["linear"]).fit(**data)
    order = np.argsort([int(name) for name in model.annotators_.labels])
    assert np.corrcoef(model.annotators_.scale[order], scale)[0, 1] > 0.95
    assert model.estimator_.annotators_ is model.annotators_


def test_without_annotators_nothing_changes(judged):
    data, _, _ = judged
    plain = {name: data[name] for name in ("pairs", "c", "items")}
    first = ConfDiffLogisticRegression(prior=0.5).fit(**plain)
    second = ConfDiffLogisticRegression(prior=0.5, annotator_model="pooled").fit(**data)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.annotators_ is None


def test_a_reversed_annotator_is_reported(judged):
    data, _, _ = judged
    answers = np.where(data["annotators"] == 4, -data["c"], data["c"])
    with pytest.warns(UserWarning, match=r"1 of 5 annotators are opposed .* \(4\).*not used"):
        ConfDiffLogisticRegression(prior=0.5).fit(**(data | {"c": answers}))


@pytest.mark.parametrize("method", ["confdiff-projection", "confdiff-combined"])
def test_methods_that_cannot_take_rescaled_answers_say_so(method, judged):
    data, _, _ = judged
    assert METHODS[method].precision is None
    model = ConfDiffClassifier(method, annotator_model="full", hidden=(4,), epochs=1)
    with pytest.raises(ValueError, match=f"method '{method}' cannot take .*annotator_model='pooled'"):
        model.fit(**data)


def test_a_model_without_annotators_is_refused(judged):
    data, _, _ = judged
    with pytest.raises(ValueError, match="needs the annotators"):
        ConfDiffLogisticRegression(annotator_model="scale").fit(data["pairs"], data["c"], items=data["items"])
    with pytest.raises(ValueError, match="annotator_model"):
        ConfDiffLogisticRegression(annotator_model="ful").fit(**data)


def test_precision_does_not_move_the_mean_probability(judged):
    """A prior is the mean over items with the weights of the user, whoever judged them precisely."""
    data, _, _ = judged
    items = np.vstack([data["items"], data["items"] + 4])
    rows = data["pairs"] + N_ITEMS * (np.arange(600) % 2)[:, None]
    pairs = Pairs(items, *rows.T, data["c"])
    precision = np.where(np.arange(600) % 2, 1.9, 0.1)
    tensors = pairs.difference, pairs.difference.new_tensor(precision)
    model = ConfDiffBoosting(prior=0.5, max_iter=150, early_stopping=False).fit(pairs.with_precision(*tensors))
    p = model.predict_proba(items)[:, 1]
    assert p[rows].mean() == pytest.approx(0.5, abs=0.03)


@pytest.fixture
def stream(judged, tmp_path):
    """Return the same pairs as a stream, in row groups."""
    import pyarrow
    import pyarrow.parquet

    data, _, _ = judged
    columns = {"left": data["pairs"][:, 0], "right": data["pairs"][:, 1], "difference": data["c"]}
    table = pyarrow.table(columns | {"who": data["annotators"], "shown": data["side"]})
    pyarrow.parquet.write_table(table, tmp_path / "pairs.parquet", row_group_size=150)
    items = data["items"].astype(np.float32)
    return StreamedPairs(items, tmp_path / "pairs.parquet", annotator="who", side="shown", window=300)


@pytest.mark.parametrize("options", [{}, {"method": "confdiff-unbiased"}, {"link": "score", "prior": None}])
def test_streamed_pairs_are_adjusted_as_they_are_read(options, stream, judged):
    data, scale, _ = judged
    model = ConfDiffClassifier(**({"prior": 0.5, "hidden": (8,)} | options))
    streamed = model.fit(stream)
    assert streamed.annotators_.model == "full"
    assert np.corrcoef(streamed.annotators_.scale, scale)[0, 1] > 0.95
    assert np.corrcoef(streamed.annotators_.bias, np.arange(N_ANNOTATORS))[0, 1] > 0.95
    scores = streamed.decision_function(data["items"])
    assert np.corrcoef(scores, data["items"][:, 0])[0, 1] > 0.8
    np.testing.assert_array_equal(scores, model.fit(stream).decision_function(data["items"]))


def test_a_streamed_run_with_annotators_is_resumed(stream, judged, tmp_path):
    data, _, _ = judged
    options = {"prior": 0.5, "hidden": (8,), "epochs": 4}
    whole = ConfDiffClassifier(**options).fit(stream).decision_function(data["items"])
    checkpoint = tmp_path / "run.safetensors"
    first = ConfDiffClassifier(**options).fit(stream, checkpoint=checkpoint)
    resumed = ConfDiffClassifier(**options).fit(stream, checkpoint=checkpoint)
    np.testing.assert_array_equal(first.decision_function(data["items"]), whole)
    np.testing.assert_array_equal(resumed.decision_function(data["items"]), whole)
    other = ConfDiffClassifier(**options, annotator_model="scale")
    with pytest.raises(ValueError, match="pairs"):
        other.fit(stream, checkpoint=checkpoint)


def test_the_adjusted_differences_of_a_stream_are_those_of_pairs_in_memory(stream, judged):
    data, _, _ = judged
    model = ConfDiffClassifier(prior=0.5, hidden=(4,), epochs=1).fit(stream)
    adjusted = model._adjust_stream(stream)
    targets = np.concatenate([adjusted.read(number).difference for number in range(4)])
    precision = np.concatenate([adjusted.read(number).precision for number in range(4)])
    expected = model.annotators_.adjusted(data["c"], data["annotators"], data["side"])
    np.testing.assert_allclose(targets, expected[0], atol=1e-6)
    np.testing.assert_allclose(precision, expected[1], rtol=1e-5)
    swapped = adjusted.read(0, swap_seed=1)
    is_swapped = (swapped.left != stream.read(0).left).numpy()
    np.testing.assert_allclose(swapped.difference.numpy(), np.where(is_swapped, -1, 1) * targets[:150], atol=1e-6)
    assert is_swapped.any()


@pytest.mark.parametrize("method", ["confdiff-projection"])
def test_a_stream_is_refused_by_methods_that_cannot_take_rescaled_answers(method, stream):
    with pytest.raises(ValueError, match=r"cannot take|stream"):
        ConfDiffClassifier(method, annotator_model="full", prior=0.5, hidden=(4,), epochs=1).fit(stream)


def _labelled(data, p, n=60):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, N_ITEMS, n)
    return data["items"][rows], (rng.uniform(size=n) < p[rows]).astype(int)


def test_labelled_items_determine_the_common_scale(judged):
    data, _, p = judged
    weak = data | {"c": data["c"] * 0.7}
    assumed = ConfDiffLogisticRegression().fit(**weak).annotators_
    assert assumed.common_scale == "assumed"
    assert assumed.mean_scale == 1
    model = ConfDiffLogisticRegression().fit(**weak, labelled=_labelled(data, p, 400))
    assert model.annotators_.common_scale == "labelled items"
    assert model.annotators_.mean_scale == pytest.approx(0.7, abs=0.12)
    assert "labelled items" in repr(model.annotators_)
    np.testing.assert_allclose(model.annotators_.scale / model.annotators_.mean_scale, assumed.scale, rtol=1e-6)
    error = np.abs(model.predict_proba(data["items"])[:, 1] - p).mean()
    plain = ConfDiffLogisticRegression(annotator_model="pooled").fit(**weak, labelled=_labelled(data, p, 400))
    assert error < np.abs(plain.predict_proba(data["items"])[:, 1] - p).mean() - 0.01


def test_same_class_answers_determine_the_common_scale(judged):
    data, _, p = judged
    rng = np.random.default_rng(2)
    asked = rng.integers(0, N_ITEMS, (400, 2))
    classes = rng.uniform(size=asked.shape) < p[asked]
    pairs = Pairs(
        data["items"],
        *np.concatenate([data["pairs"], asked]).T,
        np.concatenate([0.7 * data["c"], np.full(400, np.nan)]),
        same=np.concatenate([np.full(600, np.nan), classes[:, 0] == classes[:, 1]]),
        annotator=np.concatenate([data["annotators"], np.zeros(400, dtype=int)]),
        side=np.concatenate([data["side"], np.zeros(400, dtype=int)]),
    )
    estimates = ConfDiffBoosting(max_iter=40).fit(pairs).annotators_
    assert estimates.common_scale == "same-class answers"
    assert estimates.mean_scale == pytest.approx(0.7, abs=0.15)


def test_one_annotator_and_annotators_with_one_answer(judged):
    data, _, _ = judged
    one = ConfDiffLogisticRegression(prior=0.5).fit(**(data | {"annotators": np.zeros(600, dtype=int)}))
    assert one.annotators_ is None
    own = ConfDiffLogisticRegression(prior=0.5).fit(**(data | {"annotators": np.arange(600)}))
    assert len(own.annotators_) == 600
    assert np.isfinite(own.coef_).all()


def test_names_may_be_strings_and_validation_may_have_others(judged):
    data, scale, _ = judged
    names = np.array(["Ada", "Bo", "Cy", "Di", "Ed"])
    named = data | {"annotators": names[data["annotators"]]}
    validation = Pairs(
        data["items"], *data["pairs"].T, data["c"], annotator=np.array(["Zoe", "Ed"])[data["annotators"] % 2]
    )
    model = ConfDiffBoosting(prior=0.5, max_iter=20).fit(**named, validation=validation)
    order = np.argsort(model.annotators_.labels)
    assert np.corrcoef(model.annotators_.scale[order], scale)[0, 1] > 0.95
    with pytest.raises(ValueError, match="annotator"):
        ConfDiffBoosting().fit(**(data | {"annotators": np.where(data["annotators"] == 2, np.nan, 1.0)}))
