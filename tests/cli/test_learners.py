"""Commands with model folders of linear models and of boosted trees, for every link."""

import json

import onnxruntime
import pandas as pd
import pytest

from command import confdiff
from confdiff.links import LINKS
from tabular.learners import fitted_model
from tabular.people import FRAME, JUDGED, RISK

BOTH = [(kind, link) for kind in ("boosting", "linear") for link in LINKS]
WORDS = {"boosting": "boosted trees by", "linear": "linear model ("}
OUTPUTS = {"probability": "`probability`", "preference": "`score` and `preferred`", "score": "`score`"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learners")
    for kind, link in BOTH:
        fitted_model(kind, link).save(folder / f"{kind}-{link}")
    FRAME.assign(ill=(RISK > 0.5).astype(int)).to_csv(folder / "items.csv")
    JUDGED.to_csv(folder / "pairs.csv", index=False)
    return folder


def succeeds(*arguments, cwd):
    result = confdiff(*arguments, cwd=cwd)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(("kind", "link"), BOTH)
def test_show(folder, kind, link):
    shown = succeeds("show", f"{kind}-{link}", cwd=folder)
    assert WORDS[kind] in shown
    assert f"link {link}" in shown
    assert ("class prior" in shown) == (link == "probability")
    described = json.loads(succeeds("show", f"{kind}-{link}", "--json", cwd=folder))
    assert described["kind"] == kind
    assert ("prior" in described) == (link == "probability")


@pytest.mark.parametrize(("kind", "link"), BOTH)
def test_predict_and_evaluate(folder, kind, link):
    name = f"{kind}-{link}"
    assert "300 items scored" in succeeds("predict", name, "items.csv", "-o", f"{name}.csv", cwd=folder)
    scores = pd.read_csv(folder / f"{name}.csv", index_col="id")
    first = scores.columns[0]
    assert first == ("probability" if link == "probability" else "score")
    assert scores[first].corr(pd.Series(RISK, index=FRAME.index), method="spearman") > 0.8
    by_pairs = json.loads(succeeds("evaluate", name, "items.csv", "--pairs", "pairs.csv", "--json", cwd=folder))
    assert by_pairs["pairwise_accuracy"] > 0.8
    by_labels = json.loads(succeeds("evaluate", name, "items.csv", "--labels", "ill", "--json", cwd=folder))
    assert by_labels["auc"] > 0.9
    assert ("accuracy" in by_labels) == (link == "probability")


@pytest.mark.parametrize("kind", ["boosting", "linear"])
def test_another_prior_is_for_probabilities(folder, kind):
    arguments = ("items.csv", "-o", f"{kind}-shifted.csv", "--target-prior", "0.1", "--overwrite")
    succeeds("predict", f"{kind}-probability", *arguments, cwd=folder)
    shifted = pd.read_csv(folder / f"{kind}-shifted.csv")["probability"]
    assert shifted.mean() < 0.3
    refused = confdiff("predict", f"{kind}-score", *arguments, cwd=folder)
    assert refused.returncode == 2
    assert "which has no classes" in refused.stderr


@pytest.mark.parametrize("kind", ["boosting", "linear"])
def test_a_device_is_for_networks(folder, kind):
    succeeds("predict", f"{kind}-score", "items.csv", "-o", f"{kind}-auto.csv", "--device", "auto", cwd=folder)
    refused = confdiff("predict", f"{kind}-score", "items.csv", "-o", "no.csv", "--device", "cuda", cwd=folder)
    assert refused.returncode == 2
    assert f"--device cuda would not be used: a {kind} model runs on the CPU" in refused.stderr
    assert not (folder / "no.csv").exists()


@pytest.mark.parametrize(("kind", "link"), BOTH)
def test_explain(folder, kind, link):
    name = f"{kind}-{link}"
    flags = ("-o", f"{name}-long.csv", "--page", f"{name}.html", "--json")
    values = json.loads(succeeds("explain", name, "items.csv", *flags, cwd=folder))
    first = values["items"][0]
    assert values["base"] + sum(first["contributions"].values()) == pytest.approx(first["score"])
    assert {row["column"] for row in values["importance"]["columns"]} == set(FRAME.columns)
    assert "exactly" in (folder / f"{name}.html").read_text()


@pytest.mark.parametrize(("kind", "link"), BOTH)
def test_export(folder, kind, link):
    name = f"{kind}-{link}"
    printed = succeeds("export", name, "--onnx", f"{name}.onnx", cwd=folder)
    bits = 64 if kind == "boosting" else 32
    assert f"6 columns of {bits}-bit floats, encoded features" in printed
    assert f"output {OUTPUTS[link]}\n" in printed
    session = onnxruntime.InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])
    assert ", ".join(f"`{output.name}`" for output in session.get_outputs()) == OUTPUTS[link].replace(" and", ",")
