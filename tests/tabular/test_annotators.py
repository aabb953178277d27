"""Annotators from a column of the pairs to the model folder and the commands."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.annotator_parameters import annotator_parameters
from confdiff.tabular.model.card import card_html
from confdiff.tabular.model.model import load_model

SCALES = np.array([0.4, 0.8, 1.1, 1.5])


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 3))
    p = 1 / (1 + np.exp(-2 * features[:, 0]))
    items = pd.DataFrame(features, columns=list("xyz"), index=pd.Index([f"i{k}" for k in range(200)], name="id"))
    left = rng.integers(0, 200, 800)
    right = (left + rng.integers(1, 200, 800)) % 200
    annotator = rng.integers(0, 4, 800)
    c = (SCALES[annotator] * (p[right] - p[left]) + rng.normal(0, 0.1, 800)).clip(-1, 1)
    columns = {"left": items.index[left], "right": items.index[right], "difference": c, "annotator": annotator}
    return items, pd.DataFrame(columns)


@pytest.fixture(scope="module")
def folder(tables, tmp_path_factory):
    folder = tmp_path_factory.mktemp("annotators")
    items, pairs = tables
    items.to_csv(folder / "items.csv")
    pairs.to_csv(folder / "pairs.csv", index=False)
    pairs.assign(shown_first="nobody").to_csv(folder / "sides.csv", index=False)
    pairs.drop(columns="annotator").to_csv(folder / "unnamed.csv", index=False)
    return folder


def test_estimates_are_saved_with_the_model(tables, tmp_path):
    items, pairs = tables
    fitted = fit_comparisons(items, pairs, model="linear", prior=0.5)
    fitted.save(tmp_path / "model")
    estimates = load_model(tmp_path / "model").annotators_
    scales = dict(zip(estimates.labels, estimates.scale, strict=True))
    assert estimates.common_scale == "assumed"
    assert [scales[str(k)] for k in range(4)] == pytest.approx(SCALES / SCALES.mean(), abs=0.15)


def test_missing_cells_are_one_further_annotator_and_numbers_equal_text(tables):
    items, pairs = tables
    some = pairs.assign(annotator=[None if k % 20 == 0 else float(a) for k, a in enumerate(pairs["annotator"])])
    options = {"model": "linear", "prior": 0.5, "annotator_model": "full", "validation_fraction": 0}
    of_floats = fit_comparisons(items, some, **options).annotators_
    text = some.assign(annotator=[None if pd.isna(a) else str(int(a)) for a in some["annotator"]])
    of_text = fit_comparisons(items, text, **options).annotators_
    assert sorted(of_floats.labels) == ["(not named)", "0", "1", "2", "3"]
    assert of_floats.table() == of_text.table()


def test_one_annotator_is_not_modelled(tables):
    items, pairs = tables
    fitted = fit_comparisons(items, pairs.assign(annotator="ann"), model="linear", prior=0.5)
    assert fitted.annotators_ is None
    assert fitted.about.data.annotators == 1


def test_a_model_of_a_single_annotator_is_refused(tables):
    items, pairs = tables
    with pytest.raises(ValueError, match="annotator_model='full' needs at least two annotators; got one"):
        fit_comparisons(items, pairs.assign(annotator="ann"), model="linear", prior=0.5, annotator_model="full")


def test_streams_have_annotators_and_sides(tables, tmp_path):
    items, pairs = tables
    sides = np.where(np.arange(len(pairs)) % 2, pairs["left"], pairs["right"])
    names = np.array(["Ann", "Bo", "Cy", "Dora"], dtype=object)[pairs["annotator"]]
    names[:100] = None  # a whole row group
    same = np.where(np.arange(len(pairs)) % 10, np.nan, 1.0)
    items.reset_index().to_parquet(tmp_path / "items.parquet")
    table = pairs.assign(annotator=names, shown_first=sides, same=same)
    table.to_parquet(tmp_path / "pairs.parquet", row_group_size=100)
    options = {"stream": True, "link": "probability", "epochs": 2, "validation_fraction": 0, "annotator_model": "full"}
    fitted = fit_comparisons(tmp_path / "items.parquet", tmp_path / "pairs.parquet", prior=0.5, **options)
    assert fitted.about.data.annotators == 5
    estimates = fitted.annotators_
    scales = dict(zip(estimates.labels, estimates.scale, strict=True))
    assert estimates.has_side
    assert sum(estimates.count) == 800
    of_named = np.array([scales[name] for name in ("Ann", "Bo", "Cy", "Dora")])
    assert of_named / of_named.mean() == pytest.approx(SCALES / SCALES.mean(), abs=0.15)


def test_the_card_lists_annotators(tables):
    items, pairs = tables
    fitted = fit_comparisons(items, pairs, model="linear", prior=0.5, annotator_model="full")
    page = card_html(fitted)
    for row in annotator_parameters(fitted.annotators_):
        assert f"<td>{row.name}</td>" in page
        assert row.measures[1] in page
    assert fitted.annotators_.statement in page
    assert "<h2>Annotators</h2>" not in card_html(
        fit_comparisons(items, pairs.drop(columns="annotator"), model="linear")
    )


def test_pooled_has_no_estimates(tables):
    items, pairs = tables
    assert fit_comparisons(items, pairs, model="linear", prior=0.5, annotator_model="pooled").annotators_ is None


def test_commands_fit_show_and_evaluate(folder):
    fit = confdiff("fit", "items.csv", "pairs.csv", "--model", "linear", "--prior", "0.5", "-q", cwd=folder)
    assert fit.returncode == 0, fit.stderr
    shown = confdiff("show", "model", cwd=folder).stdout
    assert "The common scale is assumed" in shown
    described = json.loads(confdiff("show", "model", "--json", cwd=folder).stdout)
    assert len(described["annotators"]["table"]) == 4
    flags = ("--pairs", "pairs.csv", "--annotator", "annotator")
    evaluated = confdiff("evaluate", "model", "items.csv", *flags, cwd=folder)
    assert evaluated.returncode == 0, evaluated.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sides.csv",), "'nobody' is neither an item of the pair nor 'left' or 'right'"),
        (("unnamed.csv", "--annotator-model", "full"), "name their column with --annotator COLUMN"),
        (("pairs.csv", "--annotator-model", "ful"), "Did you mean 'full'?"),
        (("pairs.csv", "--annotator-model", "full", "--method", "confdiff-combined", "--prior", "0.5"), "cannot take"),
    ],
)
def test_one_clear_message(folder, arguments, message):
    result = confdiff("fit", "items.csv", *arguments, "-o", "other", "-q", cwd=folder)
    assert result.returncode != 0
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
