import json

import pytest

from command import confdiff
from confdiff.io.typed_table import read_table

MAKE = ("pairs", "make", "digits", "--model", "linear")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    return confdiff(*MAKE, "--prior", ".2", "-o", "out/pairs.parquet", cwd=folder), folder / "out"


def test_make_writes_pairs_items_truth_and_description(made):
    result, folder = made
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in folder.iterdir()) == [
        "pairs-items.parquet",
        "pairs-truth.parquet",
        "pairs.json",
        "pairs.parquet",
    ]
    assert "400 pairs" in result.stdout
    assert "fraction of positives: 0.2000" in result.stdout
    pairs, items, truth = (read_table(folder / f"pairs{part}.parquet") for part in ("", "-items", "-truth"))
    assert list(pairs) == ["left", "right", "difference"]
    assert list(items)[:3] == ["id", "x0", "x1"]
    assert list(truth) == ["id", "part", "class", "label", "posterior"]
    posterior = dict(zip(truth["id"].tolist(), truth["posterior"].tolist(), strict=True))
    expected = [posterior[right] - posterior[left] for left, right in zip(pairs["left"], pairs["right"], strict=True)]
    assert pairs["difference"] == pytest.approx(expected, abs=1e-6)
    assert truth["label"][truth["part"] == "test"].mean() == pytest.approx(0.2, abs=0.01)
    assert json.loads((folder / "pairs.json").read_text())["specification"]["prior"] == 0.2


def test_describe_shows_draws_and_prints_json(made):
    folder = made[1]
    result = confdiff("pairs", "describe", "pairs.parquet", "-o", "../c.png", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "fraction of positives: 0.2000" in result.stdout
    assert "near ties" in result.stdout
    assert (folder.parent / "c.png").read_bytes().startswith(b"\x89PNG")
    description = json.loads(confdiff("pairs", "describe", "pairs.parquet", "--json", cwd=folder).stdout)
    assert description["n_pairs"] == sum(description["histogram"]) == 400
    assert description["prior"] == pytest.approx(0.2)


def test_the_same_seed_makes_the_same_files(made, tmp_path):
    assert confdiff(*MAKE, "--prior", ".2", "-o", "pairs.parquet", cwd=tmp_path).returncode == 0
    for name in ("pairs.parquet", "pairs-items.parquet", "pairs-truth.parquet", "pairs.json"):
        assert (tmp_path / name).read_bytes() == (made[1] / name).read_bytes()


def test_options(tmp_path):
    options = "--noise likert --noise-amount 5 --prior-factor 1.1 --pcomp reverse --fraction .5 --partners 2 --seed 3"
    result = confdiff(*MAKE, *options.split(), "-o", "p.csv", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    pairs, truth = read_table(tmp_path / "p.csv"), read_table(tmp_path / "p-truth.csv")
    assert len(pairs["left"]) == 200
    assert set(pairs["difference"].tolist()) <= {-1, -0.5, 0, 0.5, 1}
    label = dict(zip(truth["id"].tolist(), truth["label"].tolist(), strict=True))
    assert all(label[left] >= label[right] for left, right in zip(pairs["left"], pairs["right"], strict=True))
    description = json.loads((tmp_path / "p.json").read_text())
    assert description["given_prior"] == pytest.approx(0.55)
    assert description["specification"]["seed"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["make", "digits", "--prior", "20"],
            "prior must be a probability strictly between 0 and 1, such as 0.2; got 20",
        ),
        (["make", "digits", "--n-pairs", "900"], "takes 900 positives, and there are 712"),
        (
            ["make", "digits", "-o", "pairs.xls"],
            "must end in .parquet, .csv, .csv.gz, .tsv, .tsv.gz, .jsonl, .json, .xlsx; got 'pairs.xls'",
        ),
        (["make", "digits", "--noise", "additive"], "needs its amount, sigma: pass --noise-amount"),
        (["make", "ukpconvarg1"], "ukpconvarg1 holds comparisons"),
        (["make", "digits", "--model", "resnet34"], "got items of 64 features"),
        (["describe", "nothing.parquet"], "the table nothing.parquet does not exist"),
        (["describe", "broken.csv"], "broken.csv must have a column 'left'; it has a, b"),
    ],
)
def test_mistakes(tmp_path, arguments, message):
    (tmp_path / "broken.csv").write_text("a,b\n1,2\n")
    result = confdiff("pairs", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["broken.csv"]
