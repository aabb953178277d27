"""confdiff recommend and reproduce table3, run as commands."""

import json
from dataclasses import replace

import numpy as np
import pytest

from command import confdiff
from confdiff.experiments.plans.recommender_trial import RecommenderSpec, run_recommender_trial
from confdiff.experiments.plans.table3 import TABLE3, ranking_rows
from confdiff.experiments.report.csv import as_csv
from confdiff.experiments.report.writing import report_html, report_markdown
from confdiff.io.tables import write_table
from confdiff.io.typed_table import read_table
from confdiff.recommender.saved import Recommender
from easy import checkerboard


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A table of interactions, and a model of it that was trained by the command."""
    folder = tmp_path_factory.mktemp("recommender")
    data = checkerboard()
    names = np.array([f"u{number:02d}" for number in range(30)])
    columns = {"who": names[data.users], "what": data.items, "liked": data.strength, "when": data.time}
    write_table(folder / "likes.csv", columns)
    flags = ["--user", "who", "--item", "what", "--strength", "liked", "--time", "when", "--model", "mf"]
    flags += ["--confidence", "watch-ratio"]
    result = confdiff(
        "recommend", "train", "likes.csv", *flags, "--epochs", "60", "--partners", "4", "--n-negatives", "3", cwd=folder
    )
    assert result.returncode == 0, result.stderr
    assert "720 interactions of 30 users with 24 items, with time" in result.stdout
    return folder


def test_held_out_positives_are_found(trained):
    result = confdiff("recommend", "evaluate", "recommender.safetensors", "likes.csv", "--json", cwd=trained)
    measures = json.loads(result.stdout)
    assert (measures["evaluated"], measures["candidates"]) == (30, 4)
    assert measures["full ndcg@10"] > 0.9 > measures["item means"]["full ndcg@10"]  # all items have one mean
    assert measures["beats the baselines"] is True
    assert measures["verdict"] == "The model is as good as random scores, item means and popularity, or better."
    shown = confdiff("recommend", "evaluate", "recommender.safetensors", "likes.csv", cwd=trained)
    assert "among 4 candidates" in shown.stdout
    assert measures["verdict"] in shown.stdout


def test_the_best_items_are_those_of_the_user_s_parity(trained):
    arguments = ["recommend", "topk", "recommender.safetensors", "-k", "5", "-o", "top.csv"]
    assert confdiff(*arguments, cwd=trained).returncode == 0
    top = read_table(trained / "top.csv")
    assert len(top["item"]) == 150
    parity = np.array([int(name[1:]) for name in top["user"]]) % 2
    assert (top["item"] % 2 == parity).mean() > 0.95
    unseen = confdiff(
        "recommend", "topk", "recommender.safetensors", "--user", "u03", "--seen", "likes.csv", cwd=trained
    )
    assert unseen.returncode == 0
    assert "u03" not in unseen.stdout  # everything was seen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["topk", "recommender.safetensors", "--user", "u99"], "the id 'u99' is not among the users in training"),
        (["topk", "likes.csv"], "likes.csv is damaged: its 11,138 bytes are not a file that confdiff saved"),
        (["topk", "absent"], "absent"),
        (
            ["train", "likes.csv", "-o", "new"],
            "Name the right ones with --user COLUMN, --item COLUMN and --strength COLUMN",
        ),
        (["train", "absent.csv", "-o", "new"], "the table absent.csv does not exist"),
        (["train", "likes.csv", "--method", "bprr", "-o", "new"], "unknown method 'bprr'"),
        (["evaluate", "recommender.safetensors", "other.csv"], "has other users or items"),
        (["train", "few.csv", "--n-negatives", "1", "--partners", "1", "-o", "new"], "too small for a validation set"),
        (
            ["train", "few.csv", "--partners", "100000000", "-o", "new"],
            "--partners must be at most 2, because no user has more than 3",
        ),
        (
            ["train", "likes.csv", "--user", "who", "--item", "what", "--strength", "liked", "-o", "new"],
            "Pass --confidence watch-ratio",
        ),
    ],
)
def test_mistakes(trained, arguments, message):
    write_table(trained / "other.csv", {"who": ["x"] * 9, "what": range(9), "liked": [3.0] * 9, "when": range(9)})
    few = {"user_id": [1, 1, 1, 2, 2], "video_id": [1, 2, 3, 1, 2], "watch_ratio": [3.0, 1.0, 0.5, 1.5, 2.5]}
    write_table(trained / "few.csv", few)
    result = confdiff("recommend", *arguments, cwd=trained)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """Ratings from 1 to 5 that have nothing to do with the users, in a table with a time and a column of no use."""
    folder = tmp_path_factory.mktemp("ratings")
    rng = np.random.default_rng(0)
    users, items = np.divmod(rng.permutation(20 * 40)[:500], 40)
    liking = rng.normal(size=40)
    rating = np.clip(np.round(3 + liking[items] + rng.normal(size=500)), 1, 5)
    columns = {"userId": users, "movieId": items, "rating": rating, "timestamp": np.arange(500), "title": ["x"] * 500}
    write_table(folder / "ratings.csv", columns)
    return folder


def test_ratings_are_recognised_and_a_model_that_loses_is_named(rated):
    arguments = ["ratings.csv", "--epochs", "1", "--patience", "0", "--n-negatives", "9", "--model", "mf"]
    result = confdiff("recommend", "train", *arguments, cwd=rated)
    assert result.returncode == 0, result.stderr
    assert "user: userId, item: movieId, strength: rating, time: timestamp" in result.stdout
    assert "strengths were recognised as 'rating': from 0 for the lowest rating of the scale to 1" in result.stdout
    assert "columns that are not used: title" in result.stdout
    assert "pairs, 16 per interaction" in result.stdout
    options = Recommender.load(rated / "recommender.safetensors").options
    assert options["confidence"] == "rating"
    assert options["columns"] == {"user": "userId", "item": "movieId", "strength": "rating", "time": "timestamp"}
    shown = confdiff("recommend", "evaluate", "recommender.safetensors", "ratings.csv", cwd=rated)
    measures = json.loads(
        confdiff("recommend", "evaluate", "recommender.safetensors", "ratings.csv", "--json", cwd=rated).stdout
    )
    assert measures["full ndcg@10"] < measures["item means"]["full ndcg@10"]
    assert measures["beats the baselines"] is False
    assert "The model is worse than the item means among all items: NDCG@10" in measures["verdict"]
    assert "warning: The model is worse than" in shown.stdout


def test_training_names_a_model_that_loses_to_the_item_means(rated):
    learns_nothing = ["--method", "oracle-hard", "--epochs", "1", "--partners", "1", "--model", "mf"]
    learns_nothing += ["--n-negatives", "9"]
    result = confdiff("recommend", "train", "ratings.csv", *learns_nothing, "-o", "bad.safetensors", cwd=rated)
    assert result.returncode == 0, result.stderr
    assert "warning: the model does not beat the item means on the validation pairs" in result.stdout


def test_a_model_comes_back_as_it_was(trained, tmp_path):
    model = Recommender.load(trained / "recommender.safetensors")
    model.save(tmp_path / "again.safetensors")
    again = Recommender.load(tmp_path / "again.safetensors")
    assert again.options == model.options
    first, second = model.top(["u00", "u07"], 3), again.top(["u00", "u07"], 3)
    assert all((first[name] == second[name]).all() for name in first)


def test_a_model_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the recommender .*nope does not exist"):
        Recommender.load(tmp_path / "nope")


def write_subset(folder):
    data = checkerboard(n_users=20, n_items=80)
    folder.mkdir()
    kept = np.random.default_rng(0).random(len(data)) < 0.3
    columns = {"user_id": data.users[kept], "video_id": data.items[kept], "watch_ratio": data.strength[kept]}
    write_table(folder / "small_matrix_subset.csv", columns)


def test_table_3_as_a_command_and_in_the_report(tmp_path):
    write_subset(tmp_path / "kuairec")
    arguments = ["reproduce", "table3", "--datasets", "kuairec", "--methods", "bpr,confdiff-abs", "--trials", "2"]
    arguments += ["--epochs", "1", "--jobs", "1", "--folder", str(tmp_path / "kuairec")]
    result = confdiff(*arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert confdiff("report", cwd=tmp_path).returncode == 0
    text = (tmp_path / "report" / "results.md").read_text()
    assert "confdiff reproduce table3 --datasets kuairec --epochs 1 --trials 2" in text
    assert "<br>.372" in text  # the paper's NDCG of ConfDiff-ABS


def subset_spec(method, **settings):
    return RecommenderSpec(method, dataset="kuairec", source="small_matrix_subset.csv", **settings)


def test_a_trial_is_a_function_of_its_specification(tmp_path):
    write_subset(tmp_path / "kuairec")
    records = [
        run_recommender_trial(subset_spec(method, epochs=2, prior=prior), folder=tmp_path / "kuairec")
        for method in ("confdiff-abs", "pcomp-teacher", "oracle-hard", "item-means")
        for prior in ("global", "user")
    ]
    again = run_recommender_trial(subset_spec("confdiff-abs", epochs=2), folder=tmp_path / "kuairec")
    times = {"seconds": 0.0, "processor_seconds": 0.0}
    assert replace(again, **times) == replace(records[0], **times)
    whole = replace(subset_spec("confdiff-abs"), source="small_matrix.csv")
    with pytest.raises(
        ValueError, match=r"needs the file small_matrix\.csv, but .*small_matrix_subset\.csv would be read"
    ):
        run_recommender_trial(whole, folder=tmp_path / "kuairec")
    rows = ranking_rows(records)
    assert len(rows) == 8
    blocks = TABLE3.section(records)
    assert "each user's own prior" in " ".join(report_markdown(blocks).split())
    assert report_html(blocks).count("<td>ConfDiff-ABS</td>") == 2
    (file,) = TABLE3.files(records)
    assert len(as_csv(file).splitlines()) == 9
