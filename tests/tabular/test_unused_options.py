"""Options that do not exist, or that would have no effect, are errors."""

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.config import Config
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.evaluation import evaluate_pairs
from confdiff.tabular.tables import read_judged
from confdiff.tasks import TaskSpec
from tabular.people import FRAME, JUDGED

pytestmark = [
    pytest.mark.filterwarnings("ignore:the differences do not determine the class prior"),
    pytest.mark.filterwarnings("ignore:the network underfits"),
]
QUICK = {"model": "linear", "epochs": 1, "validation_fraction": 0}


def fit(**options):
    return lambda: fit_comparisons(FRAME, JUDGED, **{**QUICK, **options})


LIBRARY = {
    "columns of an older version": (fit(columns={"annotator": "who"}), "unknown option 'columns'"),
    "a role that fit does not use": (fit(time="when"), "unknown option 'time'"),
    "a misspelt option": (fit(epoch=3), "unknown option 'epoch'. Did you mean 'epochs'"),
    "a role that check does not know": (lambda: check_comparisons(FRAME, JUDGED, lft="a"), "unknown column 'lft'"),
    "a role of pairs": (
        lambda: read_judged(JUDGED, rigth="a"),
        "unknown role of a column 'rigth'. Did you mean 'right'",
    ),
    "a role of evaluated pairs": (
        lambda: evaluate_pairs(None, "items.csv", "pairs.csv", annotater="a"),
        "unknown role of a column 'annotater'. Did you mean 'annotator'",
    ),
    "labels and a prior": (fit(labels="ward", prior=0.3), "labels='ward' would not be used"),
    "groups without held-out pairs": (
        lambda: FitOptions(hold_out_groups=True, validation_fraction=0, epochs=1),
        "hold_out_groups=True would not be used",
    ),
    "options of networks for trees": (fit(model="boosting"), "epochs=1 is for a single network and would not be used"),
    "a prior without classes": (
        fit(link="score", prior=0.3),
        "prior=0.3 would not be used: link='score' has no classes",
    ),
    "a link that the method does not have": (
        fit(link="score", method="confdiff-abs"),
        "method='confdiff-abs' has link='probability'; got link='score'",
    ),
    "an unknown link": (fit(link="votes"), "unknown link 'votes'"),
    "an unknown model": (fit(model="forest"), "unknown model 'forest'"),
    "trees of a stream": (
        lambda: fit_comparisons("items.csv", "pairs.parquet", stream=True, model="boosting"),
        "model='boosting' needs all pairs in memory",
    ),
    "a folder for a stream without one": (fit(work="folder"), "work='folder' would not be used"),
    "a stream of a frame": (fit(stream=True), "stream=True reads pairs from Parquet files; got DataFrame"),
    "a stream of CSV": (
        lambda: fit_comparisons("items.csv", "pairs.csv", stream=True),
        "stream=True reads pairs from a Parquet file or a folder of them; got pairs.csv",
    ),
    "a group of a stream": (
        lambda: fit_comparisons("items.csv", "pairs.parquet", stream=True, group="topic"),
        "group='topic' needs all pairs in memory",
    ),
    "noise without its amount": (
        lambda: TaskSpec(dataset="digits", prior=0.5, noise="additive"),
        r"noise='additive' needs its amount, sigma: pass noise_amount=\.\.\.",
    ),
    "an amount without noise": (
        lambda: TaskSpec(dataset="digits", prior=0.5, noise_amount=0.3),
        "noise_amount=0.3 needs a kind of noise",
    ),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_functions_refuse_options_without_effect(name):
    call, message = LIBRARY[name]
    with pytest.raises(ValueError, match=message):
        call()


COMMANDS = {
    "roles of pairs without pairs": (
        ("evaluate", "model", "items.csv", "--labels", "ill", "--left", "a"),
        "--left a is about judged pairs: pass --pairs FILE, or leave it out.",
    ),
    "annotators without pairs": (
        ("evaluate", "model", "items.csv", "--labels", "ill", "--annotator", "who"),
        "--annotator who is about judged pairs",
    ),
    "a scale without pairs": (
        ("evaluate", "model", "items.csv", "--labels", "ill", "--scale", "1,7"),
        "--scale 1,7 is about judged pairs",
    ),
    "two kinds": (
        ("fit", "items.csv", "pairs.csv", "--number", "age", "--category", "age"),
        "a column has one kind; got --number age and --category age.",
    ),
    "labels and a prior": (
        ("fit", "items.csv", "pairs.csv", "--labels", "ward", "--prior", "0.3"),
        "--labels ward would not be used: labels determine the prior, and --prior 0.3 gives it.",
    ),
    "a stream of CSV": (
        ("fit", "items.csv", "pairs.csv", "--stream"),
        "--stream reads pairs from a Parquet file or a folder of them; got pairs.csv.",
    ),
    "early stopping without a validation set": (
        ("recommend", "train", "pairs.csv", "--no-holdout", "--patience", "2"),
        "--patience 2 would not be used: --no-holdout leaves no validation set.",
    ),
    "noise without its amount": (
        ("pairs", "make", "digits", "--noise", "additive"),
        "--noise additive needs its amount, sigma: pass --noise-amount NUMBER",
    ),
    "an option that does not exist": (("fit", "items.csv", "pairs.csv", "--annotator", "who"), "--annotator"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_refuse_flags_without_effect(name, tmp_path):
    FRAME.to_csv(tmp_path / "items.csv")
    JUDGED.to_csv(tmp_path / "pairs.csv", index=False)
    arguments, message = COMMANDS[name]
    result = confdiff(*arguments, cwd=tmp_path)
    assert result.returncode == 2, result.stdout
    assert message in " ".join(result.stderr.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.csv", "pairs.csv"]


def test_a_prior_that_is_given_wins_over_labels_of_a_file(tmp_path):
    labels = pd.Series(np.where(np.arange(len(FRAME)) % 9, np.nan, np.arange(len(FRAME)) % 2), index=FRAME.index)
    frame = FRAME.assign(ill=labels)
    path = tmp_path / "confdiff.toml"
    path.write_text(Config(labels="ill").to_toml())
    by_labels = fit_comparisons(frame, JUDGED, config=path, **QUICK)
    by_prior = fit_comparisons(frame, JUDGED, config=path, prior=0.3, **QUICK)
    assert by_labels.classifier.prior_estimate_.n_labels == int(labels.notna().sum())
    assert by_prior.classifier.prior_ == 0.3
    assert "ill" not in by_prior.about.data.columns  # labels are not features
    path.write_text(Config(prior=0.3).to_toml())
    assert fit_comparisons(frame, JUDGED, config=path, labels="ill", **QUICK).classifier.prior_ != 0.3
