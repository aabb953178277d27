"""A judge that favours the item shown second: its bias is recovered, and the ranking does not suffer from it.

``CONFDIFF_JUDGE_SEEDS`` is the number of studies; with several, the estimates of each are printed.
"""

import os

import numpy as np
import pytest
from scipy.stats import spearmanr

from confdiff import fit_comparisons, rank_items
from confdiff.labelling import JudgeSettings, StudySettings, ask_judge, create_study
from labelling.judges.server import JudgeServer, serving, texts_of

BIAS = 0.2
SEEDS = int(os.environ.get("CONFDIFF_JUDGE_SEEDS", "1"))
SETTINGS = StudySettings(question="Which is larger?", judges=1, pairs_per_item=10, repeats=0, points=9, show=("text",))


def judged_study(path, judges, *, n_items=40, settings=SETTINGS, seed=0):
    """Return a study that simulated judges answered through HTTP, and the true values of its items."""
    values = np.random.default_rng(seed).uniform(0.05, 0.75, n_items)
    study = create_study(path, texts_of(values) | {"x": values}, settings)
    for number, (name, side_bias) in enumerate(judges.items()):
        server = JudgeServer(side_bias=side_bias, noise=0.1, points=settings.points, seed=1000 * seed + number)
        with serving(server) as address:
            run = ask_judge(study, JudgeSettings(model=name, base_url=address))
        assert run.unanswered == 0
    return study, values


def answers_of(study, *names):
    pairs = study.pairs()
    rows = np.isin(pairs["annotator"], names)
    return {name: pairs[name][rows] for name in ("left", "right", "difference", "annotator", "shown_first")}


def estimates_of(study, *names):
    """Return annotator -> the estimates of a model of the items."""
    items = {name: column for name, column in study.items().items() if name != "text"}
    options = {"model": "linear", "link": "preference", "annotator_model": "full"}
    model = fit_comparisons(items, answers_of(study, *names), **options)
    return {row["annotator"]: row for row in model.annotators_.table()}


def ranking_error(study, name, values):
    """Return the root mean squared error of the scores, relative to their mean, and Spearman's correlation."""
    ranking = rank_items(answers_of(study, name), n_proposals=0)
    scores = dict(zip(ranking.id.tolist(), ranking.score.tolist(), strict=True))
    score = np.array([scores[item] for item in study.item_ids()])
    errors = (score - score.mean()) - (values - values.mean())
    return float(np.sqrt(np.mean(errors**2))), float(spearmanr(score, values).statistic)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_side_bias_is_recovered_and_costs_no_accuracy(tmp_path, closing_engines, seed, capsys):
    study, values = judged_study(tmp_path / "values.db", {"fair": 0.0, "biased": BIAS}, seed=seed)
    estimates = estimates_of(study, "fair", "biased")
    fair_error, fair_correlation = ranking_error(study, "fair", values)
    error, correlation = ranking_error(study, "biased", values)
    side_bias = rank_items(answers_of(study, "biased"), n_proposals=0).side_bias.value
    with capsys.disabled():
        if SEEDS > 1:
            biases = [estimates[name]["bias"] for name in ("fair", "biased")]
            print(seed, np.round([*biases, side_bias, fair_error, error, fair_correlation, correlation], 4))
    assert estimates["biased"]["bias"] == pytest.approx(BIAS, abs=0.03)
    assert estimates["fair"]["bias"] == pytest.approx(0, abs=0.03)
    assert side_bias == pytest.approx(BIAS, abs=0.03)
    assert error < 1.5 * fair_error
    assert correlation > fair_correlation - 0.01
