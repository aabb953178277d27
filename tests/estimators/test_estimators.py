import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data
from torch import nn

from confdiff import ConfDiffClassifier, ItemTransformer, Pairs
from confdiff.estimators.checks import pair_estimator_checks
from confdiff.losses import LOSSES
from confdiff.methods import METHODS
from easy import easy_pairs

QUICK = {"model": "linear", "epochs": 30, "batch_size": 64, "learning_rate": 0.05}
CHECKS = dict(pair_estimator_checks())


def quick(method="confdiff-abs", **parameters):
    return ConfDiffClassifier(method, prior=0.5, **(QUICK | parameters))


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize(
    "method", [name for name, row in METHODS.items() if row.learns_from == "differences" and row.classifies]
)
def test_our_checks(method, name):
    CHECKS[name](quick(method))


@pytest.mark.parametrize("name", CHECKS)
def test_our_checks_on_a_network_and_another_loss(name):
    CHECKS[name](quick(model="mlp", loss="squared", learning_rate=0.003))


def test_our_checks_can_fail():
    class Forgetful(ConfDiffClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X)[:, ::-1]

    with pytest.raises(AssertionError, match="probabilities must follow the score"):
        CHECKS["predictions"](Forgetful(prior=0.5, **QUICK))


class Labelled(ConfDiffClassifier):
    """A face with fit(X, y) for scikit-learn's common checks, which know no pairs: labels make the differences."""

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        names, codes = np.unique(y, return_inverse=True)
        if len(names) > 2:
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        if len(names) < 2:
            raise ValueError("Classifier can't train when only one class is present.")
        given, self.classes = self.classes, tuple(names)
        left = np.arange(len(X))
        right = np.random.default_rng(0).permutation(len(X))
        super().fit(np.stack([left, right], axis=1), codes[right] - codes[left], items=X)
        self.classes = given
        return self

    score = ClassifierMixin.score


def sklearn_checks():
    estimator = Labelled(prior=0.5, **QUICK)
    for _, check in estimator_checks_generator(estimator):
        name = check.func.__name__ if hasattr(check, "func") else check.__name__
        yield pytest.param(check, id=name)


@pytest.mark.parametrize("check", list(sklearn_checks()))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_s_checks(check):
    check(Labelled(prior=0.5, **QUICK))


def test_is_a_classifier_with_two_classes():
    model = quick().fit(easy_pairs())
    assert is_classifier(model)
    assert model.classes_.tolist() == [-1, 1]
    named = quick(classes=("healthy", "ill")).fit(easy_pairs())
    assert set(named.predict(easy_pairs().items.numpy())) == {"healthy", "ill"}
    with pytest.raises(ValueError, match="two different names"):
        quick(classes=("a", "a")).fit(easy_pairs())


def test_score_needs_neither_labels_nor_prior():
    pairs = easy_pairs()
    model = quick().fit(pairs[:300])
    p = model.predict_proba(pairs.items.numpy())[:, 1]
    held_out = pairs[300:]
    c = held_out.difference.numpy()
    expected = 1 - ((p[held_out.right] - p[held_out.left] - c) ** 2).sum() / (c**2).sum()
    assert model.score(held_out) == pytest.approx(expected, abs=1e-5)
    assert model.score(held_out) > 0.9
    with pytest.raises(ValueError, match="score needs the differences"):
        model.score(Pairs(pairs.items, pairs.left, pairs.right))


def test_a_method_that_needs_the_prior_requires_it():
    with pytest.raises(ValueError, match=r"'confdiff-abs' needs the class prior .* Pass prior="):
        ConfDiffClassifier("confdiff-abs").fit(easy_pairs())
    ConfDiffClassifier("oracle-soft", **QUICK).fit(easy_pairs())


def test_oracles_learn_from_labels_and_posteriors():
    pairs = easy_pairs()
    model = ConfDiffClassifier("oracle-hard", **QUICK).fit(pairs)
    assert model.score(pairs) > 0.8
    with pytest.raises(ValueError, match="have no labels"):
        ConfDiffClassifier("oracle-hard", **QUICK).fit(Pairs(pairs.items, pairs.left, pairs.right))


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("method", "confdiff-absolute", "unknown method 'confdiff-absolute'. Did you mean 'confdiff-abs'"),
        ("prior", 0, "strictly between 0 and 1"),
        ("prior", 1.0, "strictly between 0 and 1"),
        ("prior", "half", "unknown prior 'half'. Known: estimate"),
        ("prior", float("nan"), "strictly between 0 and 1"),
        ("loss", "hinged", "unknown loss 'hinged'. Did you mean 'hinge'"),
        ("model", "lstm", "unknown model 'lstm'"),
        ("epochs", 0, "epochs must be a whole number of at least 1"),
        ("random_state", -1, "random_state must be a whole number"),
        ("device", "gpu0", "device 'gpu0' is not available; pass device='auto'"),
        ("device", "cuda:7", "device 'cuda:7' is not available"),
    ],
)
def test_bad_parameters_are_named(parameter, value, message):
    with pytest.raises(ValueError, match=message):
        quick().set_params(**{parameter: value}).fit(easy_pairs())


def test_the_device_reaches_training():
    model = quick(device="cpu", epochs=1).fit(easy_pairs())
    assert {parameter.device.type for parameter in model.model_.parameters()} == {"cpu"}
    other = quick(epochs=1).fit(easy_pairs())
    torch.testing.assert_close(other.model_.network.weight.cpu(), model.model_.network.weight)


@pytest.mark.parametrize("loss", LOSSES)
def test_probabilities_come_from_proper_losses_only(loss):
    pairs = easy_pairs()
    model = quick(loss=loss, epochs=60).fit(pairs)
    agree = (model.predict(pairs.items.numpy()) > 0) == (pairs.posteriors.numpy() > 0.5)
    assert agree.mean() > 0.9
    if LOSSES[loss].probability is None:
        assert not hasattr(model, "predict_proba")
    else:
        assert np.abs(model.predict_proba(pairs.items.numpy())[:, 1] - pairs.posteriors.numpy()).mean() < 0.1


def test_columns_of_data_frames_are_checked():
    pairs = easy_pairs()
    frame = pd.DataFrame(pairs.items.numpy(), columns=["age", "dose", "weight"], index=[f"p{i}" for i in range(300)])
    ids = pd.DataFrame({"a": frame.index[pairs.left.numpy()], "b": frame.index[pairs.right.numpy()]})
    model = quick().fit(ids, pd.Series(pairs.difference.numpy()), items=frame)
    assert model.feature_names_in_.tolist() == ["age", "dose", "weight"]
    by_rows = quick().fit(pairs)
    assert (model.decision_function(frame) == by_rows.decision_function(frame.to_numpy())).all()
    assert model.score(ids, pairs.difference, items=frame) == by_rows.score(pairs)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["dose", "age", "weight"]])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"age": "AGE"}))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["age", "dose"]])
    with pytest.raises(ValueError, match="fitted on"):
        model.score(ids, pairs.difference, items=frame[["dose", "age", "weight"]])
    broken = frame.copy()
    broken.loc["p7", "dose"] = np.nan
    with pytest.raises(ValueError, match="got nan at row 7, column 'dose'"):
        model.predict(broken)


def test_grid_search_over_pairs_that_share_their_items():
    pairs = easy_pairs()
    search = GridSearchCV(quick(), {"learning_rate": [1e-5, 0.05]}, cv=3).fit(pairs)
    assert search.best_params_ == {"learning_rate": 0.05}
    assert search.best_score_ > 0.9
    cube = pairs.items[torch.stack([pairs.left, pairs.right], 1)].numpy()
    scores = cross_val_score(quick(), cube, pairs.difference.numpy(), cv=3)
    assert scores == pytest.approx(cross_val_score(quick(), pairs, pairs.difference.numpy(), cv=3), abs=1e-6)


def test_a_pipeline_scales_the_items():
    pairs = easy_pairs()
    wild = pairs.with_items(pairs.items * torch.tensor([1e-3, 1e4, 1.0]) + 500)
    pipe = make_pipeline(ItemTransformer(StandardScaler()), quick())
    assert pipe.fit(wild).score(wild) > 0.9
    X = wild.items.numpy()
    assert pipe.predict_proba(X).shape == (300, 2)
    cube = X[torch.stack([wild.left, wild.right], 1)]
    same = clone(pipe).fit(cube, wild.difference.numpy())
    assert same.score(cube, wild.difference.numpy()) > 0.9
    grid = {"itemtransformer__transformer__with_mean": [True, False], "confdiffclassifier__epochs": [1, 30]}
    assert GridSearchCV(pipe, grid, cv=2).fit(wild).best_params_["confdiffclassifier__epochs"] == 30


def test_a_pipeline_of_frames_keeps_names():
    pairs = easy_pairs()
    frame = pd.DataFrame(pairs.items.numpy(), columns=["age", "dose", "weight"])
    named = Pairs.from_rows(torch.stack([pairs.left, pairs.right], 1).numpy(), frame, pairs.difference)
    scaler = ItemTransformer(StandardScaler().set_output(transform="pandas"))
    pipe = make_pipeline(scaler, quick()).fit(named)
    assert pipe[-1].feature_names_in_.tolist() == ["age", "dose", "weight"]
    assert pipe.predict(frame).shape == (300,)


def test_joblib_round_trip(tmp_path):
    pairs = easy_pairs()
    model = quick(model="mlp", learning_rate=1e-3).fit(pairs)
    joblib.dump(model, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib")
    assert (again.predict_proba(pairs.items.numpy()) == model.predict_proba(pairs.items.numpy())).all()


def test_a_network_that_is_passed_in_is_copied():
    network = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    before = [parameter.clone() for parameter in network.parameters()]
    model = quick(model=network).fit(easy_pairs())
    assert model.model_ is not network
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), before, strict=True))
    assert model.score(easy_pairs()) > 0.5
    assert quick(model=lambda d: nn.Linear(d, 1)).fit(easy_pairs()).score(easy_pairs()) > 0.9


def test_without_a_seed_results_differ():
    X = easy_pairs().items.numpy()
    first, second = (quick(random_state=None).fit(easy_pairs()).decision_function(X) for _ in range(2))
    assert not np.array_equal(first, second)


def test_unconnected_groups_warn():
    pairs = easy_pairs()
    rows = np.array([[0, 1], [1, 2], [3, 4], [4, 5]])
    c = pairs.posteriors[rows[:, 1]] - pairs.posteriors[rows[:, 0]]
    with pytest.warns(UserWarning, match="form 2 connected components") as caught:
        quick().fit(rows, c, items=pairs.items.numpy(), groups=["u", "u", "v", "v"])
    assert [warning.filename for warning in caught] == [__file__]
    quick().fit(np.array([[0, 1], [1, 2]]), c[:2], items=pairs.items.numpy(), groups=["u", "u"])


def test_items_with_pairs_that_have_items_are_refused():
    with pytest.raises(ValueError, match="these Pairs have items"):
        quick().fit(easy_pairs(), items=np.zeros((3, 3)))


def test_a_checkpoint_of_fit(tmp_path):
    pairs = easy_pairs()
    first = quick().fit(pairs, checkpoint=tmp_path / "c")
    again = quick().fit(pairs, checkpoint=tmp_path / "c")
    assert torch.equal(first.model_.network.weight, again.model_.network.weight)
    with pytest.raises(ValueError, match=r"prior was 0\.5, now 0\.4"):
        quick().set_params(prior=0.4).fit(pairs, checkpoint=tmp_path / "c")


def test_scaling_uses_full_precision():
    """A column of unix seconds keeps its meaning through a scaler, which 32-bit floats would lose."""
    pairs = easy_pairs()
    late = pairs.with_items(pairs.items.double().numpy() + np.array([1.7e9, 0, 0]))
    pipe = make_pipeline(ItemTransformer(StandardScaler()), quick())
    assert pipe.fit(late).score(late) > 0.9


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64])
def test_items_of_any_number_type(kind):
    pairs = easy_pairs()
    items = (pairs.items * 10).to(kind)
    model = quick(learning_rate=0.01).fit(Pairs(items, pairs.left, pairs.right, pairs.difference))
    assert model.score(Pairs(items, pairs.left, pairs.right, pairs.difference)) > 0.5
    assert model.predict(items).shape == (300,)
    with pytest.raises(ValueError, match="Flatten them first"):
        quick().fit(Pairs(pairs.items[:, :, None], pairs.left, pairs.right, pairs.difference))


def test_frames_in_every_form_keep_their_names_and_only_real_names():
    pairs = easy_pairs()
    named = pd.DataFrame(pairs.items.numpy(), columns=["a", "b", "c"])
    numbered = pd.DataFrame(pairs.items.numpy())
    for data in (Pairs(named, pairs.left, pairs.right, pairs.difference), pairs.with_items(named)):
        assert quick().fit(data).predict(named).shape == (300,)
        assert data.feature_names == ("a", "b", "c")
    rows = torch.stack([pairs.left, pairs.right], 1).numpy()
    assert quick().fit(rows, pairs.difference, items=numbered).predict(numbered).shape == (300,)
    with pytest.raises(ValueError, match="'a' more than once"):
        quick().fit(rows, pairs.difference, items=named.set_axis(["a", "b", "a"], axis=1))


def test_parameters_set_after_fit_do_not_change_predictions():
    pairs = easy_pairs()
    model = quick().fit(pairs)
    before = model.predict_proba(pairs.items.numpy())
    assert (model.set_params(loss="hinge").predict_proba(pairs.items.numpy()) == before).all()


def test_a_fold_without_weight_has_no_score():
    pairs = easy_pairs(weight=np.arange(400) < 200)
    model = quick().fit(pairs[:200])
    with pytest.raises(ValueError, match="above 0 for at least one pair"):
        model.score(pairs[200:])
    with pytest.raises(ValueError, match="above 0 for at least one pair"):
        quick().fit(pairs[200:])


@pytest.mark.parametrize("scale", [1e-40, 1e38, 1e300])
def test_only_ratios_of_weights_matter(scale):
    pairs, weight = easy_pairs(), np.linspace(1, 2, 400)
    X = pairs.items.numpy()
    expected = quick().fit(pairs, sample_weight=weight).decision_function(X)
    assert quick().fit(pairs, sample_weight=weight * scale).decision_function(X) == pytest.approx(expected, abs=1e-4)


def test_errors_name_the_arguments():
    pairs = easy_pairs()
    model = quick().fit(pairs)
    with pytest.raises(ValueError, match="predictions are for single items; got Pairs"):
        model.predict(pairs)
    with pytest.raises(ValueError, match="Pass c to fit"):
        quick().fit(Pairs(pairs.items, pairs.left, pairs.right))
    with pytest.raises(ValueError, match="got true/false"):
        quick().fit(pairs, pairs.difference > 0)
    with pytest.raises(ValueError, match="such as random_state=0"):
        quick(random_state=None).fit(pairs, checkpoint="never-written")
    with pytest.raises(ValueError, match="rows of different lengths"):
        quick().fit([[[1.0, 2.0], [3.0]]], [0.1])
    assert quick(random_state=np.random.RandomState(0)).fit(pairs).score(pairs) > 0.9
    mixed = quick(classes=(0, "yes")).fit(pairs)
    assert mixed.classes_.tolist() == [0, "yes"]
