import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from confdiff import ConfDiffClassifier, ItemTransformer, OneVersusRest, Pairs, PcompClassifier, ProjectedClassifier
from confdiff.prior import estimate_prior
from confdiff.training import Recipe

QUICK = {"epochs": 5, "prior": 0.5, "standardise": False}  # sparse features are scaled but not centred
ESTIMATORS = {
    "network": ConfDiffClassifier(**QUICK),
    "linear network": ConfDiffClassifier(model="linear", **QUICK),
    "early stopping": ConfDiffClassifier(**QUICK, early_stopping=True, calibrated=True),
    "estimated prior": ConfDiffClassifier(**(QUICK | {"prior": "estimate", "batch_size": 32})),
    "projected": ProjectedClassifier(LogisticRegression(), rounds=2, prior=0.5),
}


def sparse_data(n=80, d=12):
    rng = np.random.default_rng(0)
    items = (rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < 0.3)).astype(np.float32)
    rows = rng.integers(0, n, size=(120, 2))
    r = 1 / (1 + np.exp(-3 * items[:, :3].sum(axis=1)))
    return items, rows, r[rows[:, 1]] - r[rows[:, 0]]


@pytest.mark.filterwarnings("ignore:the network underfits", "ignore:the differences do not determine")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_sparse_items_give_the_predictions_of_dense_items(name):
    items, rows, c = sparse_data()
    dense = ESTIMATORS[name].fit(rows, c, items=items)
    expected = dense.predict_proba(items)
    expected_score = dense.score(rows, c, items=items)
    fitted = ESTIMATORS[name].fit(rows, c, items=sparse.csr_matrix(items))
    pairs = Pairs.from_rows(rows, sparse.coo_array(items), c)
    for X in (items, sparse.csr_matrix(items), sparse.csc_array(items), pairs.items):
        assert np.allclose(fitted.predict_proba(X), expected, atol=1e-5)
    assert (fitted.predict(pairs.items) == fitted.predict(items)).all()
    assert fitted.score(pairs) == pytest.approx(expected_score, abs=1e-5)
    with pytest.raises(ValueError, match="X has 5 features, but"):
        fitted.predict(sparse.csr_matrix(items[:, :5]))


def test_sparse_features_are_scaled_but_not_centred():
    items, rows, c = sparse_data()
    fitted = ConfDiffClassifier(epochs=5, prior=0.5).fit(rows, c, items=sparse.csr_matrix(items))
    spread = items[rows.reshape(-1)].std(axis=0)
    by_hand = ConfDiffClassifier(**QUICK).fit(rows, c, items=items / spread)
    assert np.allclose(fitted.predict_proba(sparse.csr_matrix(items)), by_hand.predict_proba(items / spread), atol=1e-3)


def test_order_and_reductions_take_sparse_items():
    items, rows, c = sparse_data()
    ordered = np.where((c > 0)[:, None], rows[:, ::-1], rows)
    vectors = np.stack([-c, c / 2, c / 2], axis=1)
    for estimator, pairs, difference in (
        (PcompClassifier(**QUICK), ordered, None),
        (OneVersusRest(ConfDiffClassifier(epochs=2, standardise=False), prior=[0.4, 0.3, 0.3]), rows, vectors),
    ):
        arguments = () if difference is None else (difference,)
        expected = estimator.fit(pairs, *arguments, items=items).predict_proba(items)
        fitted = estimator.fit(pairs, *arguments, items=sparse.csr_matrix(items))
        assert np.allclose(fitted.predict_proba(sparse.csr_matrix(items)), expected, atol=1e-5)


@pytest.mark.filterwarnings("ignore:the network underfits", "ignore:the differences do not determine")
def test_the_prior_of_sparse_pairs_is_that_of_dense_pairs():
    items, rows, c = sparse_data()
    recipe = Recipe(epochs=5, batch_size=32)
    estimates = [
        estimate_prior(Pairs.from_rows(rows, form(items), c), labelled=(form(items[:10]), [0, 1] * 5), recipe=recipe)
        for form in (np.asarray, sparse.csr_matrix)
    ]
    assert estimates[0].value == pytest.approx(estimates[1].value, abs=1e-5)


def test_classifiers_without_sparse_matrices_are_refused():
    items, rows, c = sparse_data()
    with pytest.raises(ValueError, match="HistGradientBoostingClassifier does not"):
        ProjectedClassifier().fit(rows, c, items=sparse.csr_matrix(items))


def test_texts_pass_through_a_pipeline_without_becoming_dense():
    texts = np.array([f"w{i} w{i % 7} w{i % 3}" for i in range(40)])
    matrix = TfidfVectorizer().fit_transform(texts)
    pairs = Pairs.from_rows(np.arange(40).reshape(20, 2), matrix)
    pipe = make_pipeline(ItemTransformer(_Doubled()), ConfDiffClassifier(epochs=1, prior=0.5))
    fitted = pipe.fit(pairs, np.linspace(-0.5, 0.5, 20))
    assert fitted.predict_proba(matrix).shape == (40, 2)


class _Doubled:
    """A transformer that fails on dense items."""

    def get_params(self, deep=True):
        return {}

    def fit(self, X):
        assert sparse.issparse(X)
        return self

    def transform(self, X):
        assert sparse.issparse(X)
        return X * 2


def test_a_matrix_that_could_not_be_dense_is_fitted_in_little_memory():
    n, d = 200_000, 100_000
    rng = np.random.default_rng(0)
    matrix = sparse.csr_array((np.ones(n, dtype=np.float32), rng.integers(0, d, n), np.arange(n + 1)), shape=(n, d))
    rows = rng.integers(0, n, size=(40, 2))
    classifier = ConfDiffClassifier(model="linear", prior=0.5, epochs=1, batch_size=20)
    tracemalloc.start()
    p = classifier.fit(rows, np.linspace(-0.5, 0.5, 40), items=matrix).predict_proba(matrix[:200])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert p.shape == (200, 2)
    assert peak < n * d * 4 / 500  # bytes; dense items would take 80 GB
