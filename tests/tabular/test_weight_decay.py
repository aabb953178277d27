"""The weight decay that folds of the pairs choose."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.estimators import ConfDiffClassifier
from confdiff.pairs import Pairs
from confdiff.tabular import weight_decay
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.weight_decay import WEIGHT_DECAYS, folds_of

HOW = {"model": "linear", "epochs": 30, "prior": 0.5}


def few_of_many(n=80, columns=60, noise=0.4, seed=0):
    """Items of many columns, one of which matters, and a few noisy judgements in five groups."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(columns)])
    p = 1 / (1 + np.exp(-x[:, 0]))
    left = rng.integers(0, n, 3 * n)
    right = (left + rng.integers(1, n, 3 * n)) % n
    c = (p[right] - p[left] + noise * rng.normal(size=3 * n)).clip(-1, 1)
    return frame, pd.DataFrame({"left": left, "right": right, "difference": c, "group": left % 5}), p


FRAME, JUDGED, P = few_of_many()


@pytest.fixture(scope="module")
def chosen():
    return fit_comparisons(FRAME, JUDGED, weight_decay="auto", validation_fraction=0, **HOW)


def test_the_one_that_explains_most_is_kept(chosen):
    tried = chosen.about.weight_decay_search.tried
    assert [decay for decay, _ in tried] == list(WEIGHT_DECAYS)
    best = max(tried, key=lambda row: row[1])[0]
    assert chosen.about.options.weight_decay == best > WEIGHT_DECAYS[0]
    again = fit_comparisons(FRAME, JUDGED, weight_decay=best, validation_fraction=0, **HOW)
    np.testing.assert_array_equal(chosen.predict_proba(FRAME), again.predict_proba(FRAME))
    assert again.about.weight_decay_search is None


def test_it_is_better_than_too_little(chosen):
    loose = fit_comparisons(FRAME, JUDGED, weight_decay=0.0, validation_fraction=0, **HOW)
    error, least = (np.abs(model.predict_proba(FRAME)[:, 1] - P).mean() for model in (loose, chosen))
    assert least < error


def test_the_order_asks_for_more(chosen):
    """Decay makes differences small before it makes them wrong."""
    ranking = fit_comparisons(FRAME, JUDGED, weight_decay="auto-order", validation_fraction=0, **HOW)
    tried = ranking.about.weight_decay_search.tried
    assert ranking.about.options.weight_decay == max(tried, key=lambda row: row[1])[0]
    assert ranking.about.options.weight_decay >= chosen.about.options.weight_decay
    assert "pairwise accuracy" in ranking.about.weight_decay_search.criterion
    assert all(0.5 < value < 1 for _, value in tried)


def test_what_is_judged_by_is_never_looked_at(monkeypatch):
    """The pairs that are judged by may hold anything: what is tried stays the same."""
    seen = []
    tried = weight_decay.search_weight_decay

    def spy(classifier, pairs, units, seed, **known):
        seen.append(pairs.difference.numpy())
        return tried(classifier, pairs, units, seed, **known)

    monkeypatch.setattr("confdiff.tabular.fitting.search_weight_decay", spy)
    monkeypatch.setattr(weight_decay, "WEIGHT_DECAYS", (1e-4, 1e-3))
    frame, judged, _ = few_of_many(n=200)
    model = fit_comparisons(frame, judged, weight_decay="auto", **HOW)
    assert len(seen[0]) == len(judged) - model.validation.test.pairs
    assert len(model.about.weight_decay_search.tried) == 2


def test_folds_tear_no_unit_apart():
    pairs = Pairs(np.eye(10), left=range(9), right=range(1, 10), difference=np.zeros(9))
    units = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    folds = folds_of(pairs, units, seed=0)
    assert sorted(np.concatenate([judged for _, judged in folds]).tolist()) == list(range(9))
    for kept, judged in folds:
        assert not set(units[kept]) & set(units[judged])
    with pytest.raises(ValueError, match="at least 4 groups or pairs to divide into folds; got 2"):
        folds_of(pairs, units % 2, seed=0)


@pytest.mark.parametrize("options", [{"hold_out_groups": True}, {"with_id": True}, {"validation_fraction": 0.2}])
def test_groups_pairs_and_items_are_folded(options, monkeypatch):
    monkeypatch.setattr(weight_decay, "WEIGHT_DECAYS", (1e-4, 1e-3))
    frame, judged, _ = few_of_many(n=200, columns=3)
    model = fit_comparisons(frame, judged, weight_decay="auto", **(HOW | options))
    assert model.about.options.weight_decay in (1e-4, 1e-3)
    assert all(np.isfinite(explained) for _, explained in model.about.weight_decay_search.tried)


def test_neither_stopping_nor_scaling_is_tried(monkeypatch):
    asked = []
    fit = ConfDiffClassifier.fit
    monkeypatch.setattr(weight_decay, "WEIGHT_DECAYS", (1e-4,))
    monkeypatch.setattr(
        ConfDiffClassifier, "fit", lambda self, *a, **k: asked.append(self.get_params()) or fit(self, *a, **k)
    )
    frame, judged, _ = few_of_many(n=200, columns=3)
    fit_comparisons(frame, judged, weight_decay="auto", **HOW)
    *tried, final = asked
    assert len(tried) == weight_decay.FOLDS
    assert not any(params["early_stopping"] or params["calibrated"] for params in tried)
    assert final["early_stopping"]
    assert final["calibrated"]


def test_by_the_command(tmp_path):
    frame, judged, _ = few_of_many(n=120, columns=5)
    frame.rename_axis("id").to_csv(tmp_path / "items.csv")
    judged.to_csv(tmp_path / "pairs.csv", index=False)
    fit = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--epochs", "2", "--prior", "0.5", "--weight-decay")
    fitted = confdiff(*fit, "auto", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    by = "chosen by R² of the differences of held-out pairs"
    assert f"{by}: 1e-06 " in " ".join(fitted.stdout.split())
    about = json.loads(confdiff("show", "model", "--json", cwd=tmp_path).stdout)
    assert about["options"]["weight_decay"] in WEIGHT_DECAYS
    assert by in (tmp_path / "model" / "card.html").read_text()
    assert confdiff(*fit, "0.001", "-o", "given", cwd=tmp_path).returncode == 0
    for text, message in {"much": "must be a number, such as 1e-3, `auto` or `auto-order`", "-1": "at least 0"}.items():
        refused = confdiff(*fit, text, "-o", "no", cwd=tmp_path)
        assert refused.returncode == 2
        assert message in refused.stderr
    judged.to_parquet(tmp_path / "pairs.parquet")
    stream = (*fit[:2], "pairs.parquet", *fit[3:], "auto", "--stream", "-o", "no")
    streamed = confdiff(*stream, cwd=tmp_path)
    assert "--weight-decay auto needs all pairs in memory" in streamed.stderr


def test_ties_tell_no_order():
    frame, judged, _ = few_of_many(n=40, columns=3)
    with pytest.raises(ValueError, match="weight_decay='auto-order' needs pairs without ties"):
        fit_comparisons(
            frame, judged.assign(difference=0.0), weight_decay="auto-order", validation_fraction=0, prior=0.5, epochs=1
        )


@pytest.mark.filterwarnings("ignore:the differences do not determine")
def test_more_features_than_items_are_warned_of():
    frame, judged, _ = few_of_many(n=40, columns=60)
    how = {"epochs": 1, "validation_fraction": 0, "prior": 0.5}
    with pytest.warns(UserWarning, match="60 features and only 40 compared items: a network may overfit"):
        model = fit_comparisons(frame, judged, **how)
    assert any("model='linear'" in text for text in model.about.warnings)
    line = fit_comparisons(frame, judged, model="linear", **how)
    assert not any("model='linear'" in text for text in line.about.warnings)
