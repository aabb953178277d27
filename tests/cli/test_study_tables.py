import json
import uuid

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.labelling import StudySettings, create_study
from confdiff.labelling.answering import Answer
from confdiff.tabular.model.model import load_model
from labelling.studies import closing_engines, postgresql_server, study_address  # noqa: F401 (fixtures)

N_ITEMS = 60


def judged_study(address, *, scale_of_ben=0.5):
    """Return a study in which Ann and Ben judged the sizes of items; Ben uses half of the scale."""
    rng = np.random.default_rng(0)
    size = rng.uniform(size=N_ITEMS)
    items = {"id": [f"d{k}" for k in range(N_ITEMS)], "size": size, "noise": rng.uniform(size=N_ITEMS)}
    settings = StudySettings(question="Which is larger?", judges=2, pairs_per_item=16, points=0)
    study = create_study(address, items, settings)
    for name, scale in (("Ann", 1.0), ("Ben", scale_of_ben)):
        study.invite(name)
        while assignment := study.next_assignment(name):
            first = assignment.shown_left
            second = assignment.right if first == assignment.left else assignment.left
            grade = float(np.clip(scale * (size[second] - size[first]) + rng.normal(0, 0.05), -1, 1))
            study.answer(name, Answer(assignment.id, str(uuid.uuid4()), grade=grade, seconds=1.0))
    study.close_connections()
    return study


def test_check_fit_and_rank_read_a_study(study_address, tmp_path):  # noqa: F811
    study = judged_study(study_address)
    check = confdiff("check", study_address, cwd=tmp_path)
    assert check.returncode == 0, check.stderr
    assert "annotator, time and shown_first" in check.stdout
    page = (tmp_path / "check" / "check.html").read_text()
    name = study.address.replace("&", "&amp;")
    assert f"the judgements of {name}" in page
    assert f"the items of {name}" in page

    fit = confdiff("fit", study_address, "--model", "linear", cwd=tmp_path)
    assert fit.returncode == 0, fit.stderr
    assert f"learned from the study {study.address}" in fit.stdout
    assert f"<td>study</td><td>{name}</td>" in (tmp_path / "model" / "card.html").read_text()
    model = load_model(tmp_path / "model")
    assert model.about.data.study == study.address
    assert model.about.data.pairs == len(study.pairs()["left"])
    assert model.about.validation.test.pairwise_accuracy > 0.9
    scales = {row["annotator"]: row["scale"] for row in model.annotators_.table()}
    assert scales["Ann"] > 1.4 * scales["Ben"]

    rank = confdiff("rank", study_address, cwd=tmp_path)
    assert rank.returncode == 0, rank.stderr
    assert f"study: {study.address}" in rank.stdout
    ranking = pd.read_csv(tmp_path / "ranking.csv").set_index("id")
    size = pd.Series(study.items()["size"], index=study.item_ids())
    assert ranking["score"].corr(size[ranking.index], method="spearman") > 0.95


def test_the_study_and_its_export_give_the_same_model(tmp_path, closing_engines):  # noqa: F811
    study = judged_study(str(tmp_path / "sizes.db"))
    study.export(tmp_path / "out")
    models = []
    for arguments in (["sizes.db"], ["out/items.csv", "out/pairs.csv", "--scale", "-1,1"]):
        output = f"model-{len(models)}"
        result = confdiff("fit", *arguments, "--model", "linear", "-o", output, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        models.append(load_model(tmp_path / output))
    scores = [model.decision_function(study.items()) for model in models]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-6)


def test_check_as_json(tmp_path, closing_engines):  # noqa: F811
    judged_study(str(tmp_path / "sizes.db"))
    result = confdiff("check", "sizes.db", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)


@pytest.mark.parametrize("command", ["check", "fit", "rank"])
def test_a_study_without_answers(tmp_path, closing_engines, command):  # noqa: F811
    items = {"id": ["a", "b"], "x": [1.0, 2.0]}
    create_study(tmp_path / "new.db", items, StudySettings(question="Which?")).close_connections()
    result = confdiff(command, "new.db", cwd=tmp_path)
    assert result.returncode == 2
    assert "the study new.db has no answers with a judgement yet" in result.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"new.db", "new.db-wal", "new.db-shm"}


def test_arguments_that_do_not_fit(tmp_path, closing_engines):  # noqa: F811
    items = {"id": ["a", "b"], "x": [1.0, 2.0]}
    create_study(tmp_path / "new.db", items, StudySettings(question="Which?")).close_connections()
    (tmp_path / "items.csv").write_text("id,x\na,1\nb,2\n")
    cases = {
        ("fit", "new.db", "items.csv"): "new.db is a study, which has judged pairs: omit items.csv",
        ("fit", "items.csv"): "a table of judged pairs must follow the items",
        ("check", "missing.db"): "a table of judged pairs must follow the items",
        ("rank", "missing.db"): "missing.db",
    }
    for arguments, message in cases.items():
        result = confdiff(*arguments, cwd=tmp_path)
        assert result.returncode == 2
        assert message in result.stderr


def test_names_of_media_files_are_no_features(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    names = [f"{k}.png" for k in range(N_ITEMS)]
    for name in names:
        (photos / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    items = {"id": [f"d{k}" for k in range(N_ITEMS)], "photo": names}
    settings = StudySettings(question="Which is larger?", media=str(photos), kinds={"photo": "image"}, judges=1)
    study = create_study(tmp_path / "photos.study", items, settings)
    study.invite("Ann")
    assignment = study.next_assignment("Ann")
    study.answer("Ann", Answer(assignment.id, str(uuid.uuid4()), grade=1.0))
    study.close_connections()
    check = confdiff("check", "photos.study", cwd=tmp_path)
    assert "would stop with an error" in check.stderr
    assert (tmp_path / "check" / "check.html").exists()
    fit = confdiff("fit", "photos.study", cwd=tmp_path)
    assert fit.returncode == 2
    assert "at least one column besides the ids" in fit.stderr
