"""Boosted trees that learn from differences."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from confdiff import ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression, ItemTransformer, Pairs
from confdiff.estimators.checks import pair_estimator_checks
from confdiff.links import LINKS
from easy import easy_pairs, pairs_of_three_classes

CHECKS = dict(pair_estimator_checks())
PAIRS = easy_pairs()
ITEMS = PAIRS.items.numpy()
QUICK = {"max_iter": 40, "n_folds": 3}


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("method", ["confdiff-regression", "confdiff-unbiased", "confdiff-relu", "confdiff-abs"])
def test_our_checks(method, name):
    CHECKS[name](ConfDiffBoosting(method, prior=0.5, max_iter=60))


@pytest.mark.parametrize("link", LINKS)
def test_every_link_learns_explains_and_comes_back(link):
    prior = 0.5 if link == "probability" else None
    model = ConfDiffBoosting(link=link, prior=prior, **QUICK).fit(PAIRS)
    assert model.link_ == link
    assert model.errors_
    assert model.score(PAIRS) > 0.9
    scores = model.decision_function(ITEMS)
    np.testing.assert_allclose(model.explain(ITEMS).sum(axis=1), scores, atol=1e-9)
    assert model.feature_importances_.argmax() == 0
    assert model.feature_importances_.sum() == pytest.approx(1)
    state = json.loads(json.dumps(model.to_state()))
    restored = ConfDiffBoosting.from_state(state)
    np.testing.assert_array_equal(restored.decision_function(ITEMS), scores)
    np.testing.assert_array_equal(restored.predict_difference(PAIRS), model.predict_difference(PAIRS))


@pytest.mark.parametrize("link", ["preference", "score"])
def test_links_without_classes(link):
    model = ConfDiffBoosting(link=link, **QUICK).fit(PAIRS)
    used = np.unique(np.concatenate([PAIRS.left, PAIRS.right]))
    assert model.decision_function(ITEMS[used]).mean() == pytest.approx(0, abs=1e-9)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "classes_")
    assert hasattr(model, "predict_preference") == (link == "preference")
    with pytest.raises(ValueError, match=r"prior is for link='probability'"):
        ConfDiffBoosting(link=link, prior=0.5).fit(PAIRS)


def test_three_classes():
    pairs, posteriors = pairs_of_three_classes()
    prior = posteriors.mean(axis=0)
    model = ConfDiffBoosting(prior=prior / prior.sum(), **QUICK).fit(pairs)
    items = pairs.items.numpy()
    assert model.score(pairs) > 0.9
    assert model.decision_function(items).shape == (400, 3)
    np.testing.assert_allclose(model.explain(items).sum(axis=2), model.decision_function(items), atol=1e-9)
    assert (model.predict(items) == posteriors.argmax(axis=1)).mean() > 0.8
    restored = ConfDiffBoosting.from_state(json.loads(json.dumps(model.to_state())))
    np.testing.assert_array_equal(restored.predict_proba(items), model.predict_proba(items))


def test_two_classes_as_vectors_equal_the_binary_form():
    c = PAIRS.difference.numpy()
    options = {"max_features": 1.0, "subsample": 1.0, **QUICK}
    binary = ConfDiffBoosting(prior=0.4, **options).fit(PAIRS)
    rows = np.stack([PAIRS.left, PAIRS.right], axis=1)
    vectors = ConfDiffBoosting(prior=[0.6, 0.4], **options).fit(rows, np.stack([-c, c], axis=1), items=ITEMS)
    np.testing.assert_allclose(vectors.predict_proba(ITEMS), binary.predict_proba(ITEMS), atol=0.02)


def test_the_prior_is_the_mean_probability():
    flat = Pairs(ITEMS, PAIRS.left, PAIRS.right, PAIRS.difference / 3)  # which fit any of these priors
    for prior in (0.2, 0.5, 0.7):
        model = ConfDiffBoosting(prior=prior, **QUICK).fit(flat)
        assert model.predict_proba(ITEMS)[:, 1].mean() == pytest.approx(prior, abs=0.02)
        assert model.prior_ == prior


def test_oracles_learn_from_posteriors_and_labels():
    accuracies = {}
    for method in ("oracle-soft", "oracle-hard"):
        model = ConfDiffBoosting(method, **QUICK).fit(PAIRS)
        accuracies[method] = ((model.predict(ITEMS) > 0) == (PAIRS.posteriors.numpy() > 0.5)).mean()
    assert accuracies["oracle-soft"] > 0.95
    assert accuracies["oracle-hard"] > 0.8


def test_early_stopping_finds_the_number_of_rounds():
    noisy = PAIRS.with_difference(np.random.default_rng(0).permutation(PAIRS.difference.numpy()))
    model = ConfDiffBoosting(prior=0.5, max_iter=200).fit(Pairs(ITEMS, PAIRS.left, PAIRS.right, noisy.difference))
    assert model.n_iter_ < 40
    assert len(model.errors_) < 200
    assert model.n_iter_ == int(np.argmin(model.errors_)) + 1
    fixed = ConfDiffBoosting(prior=0.5, max_iter=7, early_stopping=False).fit(PAIRS)
    assert (fixed.n_iter_, fixed.model_.n_trees) == (7, 7)


def test_one_fold_is_trained_again_on_all_pairs():
    model = ConfDiffBoosting(prior=0.5, n_folds=1, max_iter=40).fit(PAIRS)
    assert model.model_.n_trees == model.n_iter_
    fixed = ConfDiffBoosting(prior=0.5, early_stopping=False, max_iter=model.n_iter_).fit(PAIRS)
    np.testing.assert_array_equal(fixed.decision_function(ITEMS), model.decision_function(ITEMS))


def test_validation_pairs_are_held_out_too():
    training = PAIRS[:300]
    model = ConfDiffBoosting(prior=0.5, **QUICK).fit(training, validation=PAIRS[300:])
    assert model.score(PAIRS[300:]) > 0.9
    single = ConfDiffBoosting(prior=0.5, n_folds=1, max_iter=40).fit(training, validation=PAIRS[300:])
    assert single.model_.n_trees == single.n_iter_
    with pytest.raises(ValueError, match="validation must be a Pairs"):
        ConfDiffBoosting(prior=0.5).fit(training, validation=ITEMS)


def test_few_pairs_are_all_used():
    model = ConfDiffBoosting(prior=0.5, min_samples_leaf=2).fit(PAIRS[:10])
    assert model.n_iter_ == 50
    assert model.errors_ == []


def test_calibration_uses_held_out_pairs():
    rng = np.random.default_rng(0)
    noisy = np.clip(PAIRS.difference.numpy() + rng.normal(0, 0.4, len(PAIRS)), -1, 1)
    pairs = Pairs(ITEMS, PAIRS.left, PAIRS.right, noisy)
    model = ConfDiffBoosting(prior=0.5, calibrated=True, **QUICK).fit(pairs)
    assert model.temperature_ != 1
    np.testing.assert_allclose(model.explain(ITEMS).sum(axis=1), model.decision_function(ITEMS), atol=1e-9)
    restored = ConfDiffBoosting.from_state(json.loads(json.dumps(model.to_state())))
    np.testing.assert_array_equal(restored.predict_proba(ITEMS), model.predict_proba(ITEMS))


def test_target_prior_shifts_the_scores():
    model = ConfDiffBoosting(prior=0.5, **QUICK).fit(PAIRS)
    before = model.decision_function(ITEMS)
    model.set_params(target_prior=0.2)
    np.testing.assert_allclose(model.decision_function(ITEMS), before + np.log(0.25), atol=1e-12)
    np.testing.assert_allclose(model.explain(ITEMS).sum(axis=1), before + np.log(0.25), atol=1e-9)


def test_monotone_constraints():
    rng = np.random.default_rng(0)
    grid = np.zeros((50, 3))
    grid[:, 0] = np.linspace(-3, 3, 50)
    noisy = np.clip(PAIRS.difference.numpy() + rng.normal(0, 0.5, len(PAIRS)), -1, 1)
    pairs = Pairs(ITEMS, PAIRS.left, PAIRS.right, noisy)
    options = {"prior": 0.5, "early_stopping": False, "max_iter": 60}
    free = ConfDiffBoosting(**options).fit(pairs).decision_function(grid)
    rising = ConfDiffBoosting(monotone_constraints={0: 1}, **options).fit(pairs).decision_function(grid)
    falling = ConfDiffBoosting(monotone_constraints=[-1, 0, 0], **options).fit(pairs).decision_function(grid)
    assert (np.diff(free) < 0).any()
    assert (np.diff(rising) >= 0).all()
    assert (np.diff(falling) <= 0).all()
    with pytest.raises(ValueError, match="the items have no column names"):
        ConfDiffBoosting(monotone_constraints={"age": 1}, **options).fit(pairs)
    with pytest.raises(ValueError, match="must map columns to 1, -1 or 0"):
        ConfDiffBoosting(monotone_constraints=[2, 0, 0], **options).fit(pairs)


def test_sparse_items_equal_dense_ones():
    from scipy.sparse import csr_array

    items = np.where(np.random.default_rng(0).random(ITEMS.shape) < 0.5, 0, ITEMS).astype(np.float32)
    c = PAIRS.difference
    options = {"prior": 0.5, "early_stopping": False, "max_iter": 20}
    dense = ConfDiffBoosting(**options).fit(Pairs(items, PAIRS.left, PAIRS.right, c))
    sparse = ConfDiffBoosting(**options).fit(Pairs(csr_array(items), PAIRS.left, PAIRS.right, c))
    assert sparse.score(Pairs(csr_array(items), PAIRS.left, PAIRS.right, c)) > 0.3
    np.testing.assert_allclose(sparse.decision_function(csr_array(items)), sparse.decision_function(items))
    np.testing.assert_allclose(sparse.explain(csr_array(items)), sparse.explain(items), atol=1e-9)
    assert dense.score(Pairs(items, PAIRS.left, PAIRS.right, c)) > 0.3


def test_an_open_offset_is_reported():
    flat = Pairs(ITEMS, PAIRS.left, PAIRS.right, PAIRS.difference / 4)
    with pytest.warns(UserWarning, match="do not determine the class prior"):
        model = ConfDiffBoosting(**QUICK).fit(flat)
    assert not model.is_offset_determined_
    assert ConfDiffBoosting(prior=0.5, **QUICK).fit(flat).is_offset_determined_


def test_wrong_combinations_are_refused():
    with pytest.raises(ValueError, match="needs the class prior"):
        ConfDiffBoosting("confdiff-abs").fit(PAIRS)
    with pytest.raises(ValueError, match="unknown method 'pcomp-abs'"):
        ConfDiffBoosting("pcomp-abs").fit(PAIRS)
    with pytest.raises(ValueError, match="unknown link 'probit'"):
        ConfDiffBoosting(link="probit").fit(PAIRS)
    with pytest.raises(ValueError, match="max_leaf_nodes must be at most 1024"):
        ConfDiffBoosting(prior=0.5, max_leaf_nodes=2000).fit(PAIRS)
    with pytest.raises(ValueError, match="pass one of the two"):
        ConfDiffBoosting(prior=0.5).fit(PAIRS, labelled=(ITEMS[:5], [0, 1, 0, 1, 1]))


def test_another_seed_gives_another_model():
    first, second = (ConfDiffBoosting(prior=0.5, random_state=seed, **QUICK).fit(PAIRS) for seed in (0, 1))
    assert not np.array_equal(first.decision_function(ITEMS), second.decision_function(ITEMS))
    assert clone(first).get_params() == first.get_params()


def mixed_frame():
    """Items with a number, a column of categories that decides, and missing values in both."""
    rng = np.random.default_rng(0)
    colours = np.array(["red", "green", "blue", "black"])[rng.integers(0, 4, 300)]
    risk = {"red": 0.9, "green": 0.1, "blue": 0.7, "black": 0.3}
    r = np.array([risk[colour] for colour in colours])
    size = np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300))
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colours)})
    rows = rng.integers(0, 300, (400, 2))
    return frame, rows, r[rows[:, 1]] - r[rows[:, 0]]


@pytest.mark.parametrize("categorical", ["auto", ["colour"], [1], [False, True]])
def test_categories_of_a_frame(categorical):
    frame, rows, c = mixed_frame()
    model = ConfDiffBoosting(prior=0.5, categorical_features=categorical, **QUICK).fit(rows, c, items=frame)
    assert model.categories_.columns == (1,)
    assert model.score(rows, c, items=frame) > 0.95
    restored = ConfDiffBoosting.from_state(json.loads(json.dumps(model.to_state())))
    np.testing.assert_array_equal(restored.predict_proba(frame), model.predict_proba(frame))
    unknown = pd.DataFrame({"size": [0.0, np.nan], "colour": ["violet", None]})
    assert np.isfinite(restored.decision_function(unknown)).all()
    texts = frame.assign(colour=frame["colour"].astype(str))
    np.testing.assert_array_equal(restored.predict_proba(texts), model.predict_proba(frame))


def test_categories_as_numbers():
    frame, rows, c = mixed_frame()
    numbers = frame.assign(colour=frame["colour"].cat.codes).to_numpy(dtype=float)
    model = ConfDiffBoosting(prior=0.5, categorical_features=[1], **QUICK).fit(
        Pairs(numbers, rows[:, 0], rows[:, 1], c, allow_missing=True)
    )
    assert model.model_.trees()[0].is_categorical.any()
    assert model.score(rows, c, items=numbers) > 0.95
    with pytest.raises(ValueError, match="categories must be whole numbers from 0 on"):
        ConfDiffBoosting(prior=0.5, categorical_features=[0]).fit(rows, c, items=numbers)
    with pytest.raises(ValueError, match="unknown column 'shape'"):
        ConfDiffBoosting(prior=0.5, categorical_features=["shape"]).fit(rows, c, items=frame)


def test_pairs_with_missing_values_are_for_trees_and_imputers():
    frame, rows, c = mixed_frame()
    numbers = frame.assign(colour=frame["colour"].cat.codes).to_numpy(dtype=float)
    with pytest.raises(ValueError, match="without NaN or infinity"):
        Pairs.from_rows(rows, numbers, c)
    pairs = Pairs.from_rows(rows, numbers, c, allow_missing=True)
    with pytest.raises(ValueError, match="without NaN or infinity"):
        ConfDiffLogisticRegression(prior=0.5).fit(pairs)
    with pytest.raises(ValueError, match="without NaN or infinity"):
        ConfDiffClassifier(prior=0.5, model="linear").fit(pairs)
    imputed = make_pipeline(ItemTransformer(SimpleImputer()), ConfDiffLogisticRegression(prior=0.5)).fit(pairs)
    assert np.isfinite(imputed.predict_proba(numbers)).all()
