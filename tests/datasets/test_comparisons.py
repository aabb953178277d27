"""Judgements of people: small files in the published layouts, and the counts of the real ones."""

import io
import tarfile
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from scipy.io import savemat

from confdiff.datasets import DATASETS, load, names_of_kind
from confdiff.datasets.comparisons import of_ids
from confdiff.datasets.loading import Judged
from confdiff.io.damage import DamagedFile
from confdiff.metrics import pairwise_accuracy

VOICES = ("linden", "nicosia", "rabat")
ANSWERS = ("Status", "Worker", "Answer.3:sliders")
MQM = ("system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category", "severity", "metadata")


def read(name, folder, files):
    """Write files, by the ends of their names, and read them without checksums."""
    form = DATASETS[name].forms[0]
    located = []
    for source in form.sources:
        contents = next((contents for end, contents in files.items() if source.name.endswith(end)), None)
        if contents is None:
            continue
        path = folder / source.name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        located.append((replace(source, md5=None), path))
    return form.read(located)


def matlab(**arrays):
    file = io.BytesIO()
    savemat(file, arrays)
    return file.getvalue()


def objects(values):
    cells = np.empty((len(values), 1), dtype=object)
    cells[:, 0] = values
    return cells


def voice_files():
    features = [f'"m00{row}_{voice}_stimulus.wav",{row}.5' for row, voice in enumerate(VOICES)]
    ratings = matlab(pseudonyms_m=objects(VOICES), meanLab_males=np.array([[60.0], [50.0], [40.0]]))
    return {"malespk.csv": "\n".join(['"sample_heard","pitch"', *features]), "results_males.mat": ratings}


def matrix(*rows):
    return "\n".join([",".join(VOICES), *rows])


def test_the_laboratory_s_matrices(tmp_path):
    files = voice_files()
    for listener, wins in (("dakar", ("0, 1, 0", "0, 0, 1", "1, 0, 0")), ("riffa", ("0, 0, 0", "1, 0, 0", "1, 1, 0"))):
        files[f"preferencematrix_{listener}.csv"] = matrix(*wins)
        files[f"dissimilaritymatrix_{listener}.csv"] = matrix("0, 30, 5", "30, 0, 100", "5, 100, 0")
    data = read("voice-likability-lab", tmp_path, files)
    assert data.annotator_names == ("dakar", "riffa")
    assert data.annotator.tolist() == [0, 0, 0, 1, 1, 1]
    assert data.left.tolist() == [0, 0, 1] * 2
    assert data.right.tolist() == [1, 2, 2] * 2
    np.testing.assert_allclose(data.difference, [-0.3, 0.05, -1, 0.3, 0.05, 1])  # the winner of a row is the row
    assert data.side is None
    assert data.reference.tolist() == [60, 50, 40]
    np.testing.assert_allclose(data.features, [[0.5], [1.5], [2.5]])
    files["preferencematrix_riffa.csv"] = matrix("0, 1, 0", "1, 0, 0", "1, 1, 0")
    with pytest.raises(DamagedFile, match="must name one winner per pair"):
        read("voice-likability-lab", tmp_path, files)


def crowd_files(sliders=(201, 1, 111)):
    answers = ["REJECTED,w,5", "ACCEPTED,v,201", "AUTOMATICALLY_ACCEPTED,w,1", "ACCEPTED,w,111"]
    pairs = objects([objects([objects([f"pair_00{k}_{ends}.wav"])]) for k, ends in enumerate(("a_b", "c_a", "b_c"))])
    return voice_files() | {
        "1-1682.csv": "\n".join([",".join(ANSWERS), *answers]),
        "Hour1105.mat": matlab(slider_val=np.array(sliders)[:, None], pairwavname=pairs),
        "onlyaccepted.csv": matrix("0, 1, 1", "1, 0, 1", "1, 1, 0"),
    }


def test_the_crowd_s_sliders(tmp_path):
    data = read("voice-likability-crowd", tmp_path, crowd_files())
    assert data.annotator_names == ("v", "w")
    assert data.annotator.tolist() == [0, 1, 1]
    assert [data.ids[row] for row in data.left] == ["linden", "rabat", "nicosia"]
    np.testing.assert_allclose(data.difference, [1, -1, 0.1])
    assert data.side.tolist() == [1, 1, 1]
    assert data.pairs.side.tolist() == [1, 1, 1]
    with pytest.raises(DamagedFile, match="differ from the accepted ones"):
        read("voice-likability-crowd", tmp_path, crowd_files((201, 2, 111)))


def archive(*rows):
    lines = ["\t".join([*MQM, "# Documentation"])]
    for system, segment, rater, category, severity in rows:
        text = f"a <v>{system}</v>"
        lines.append("\t".join([system, "d", "1", segment, rater, "s", text, category, severity, '{"a": "b"}']))
    contents = "\n".join(lines).encode()
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        member = tarfile.TarInfo("x.tsv")
        member.size = len(contents)
        tar.addfile(member, io.BytesIO(contents))
    return file.getvalue()


def test_penalties_of_translations(tmp_path):
    german = archive(
        ("A", "1", "rater1", "Accuracy/Mistranslation", "Major"),
        ("A", "1", "rater1", "Fluency/Punctuation", "Minor"),
        ("A", "1", "rater1", "Found", "HOTW-test"),
        ("B", "1", "rater1", "No-error", "No-error"),
        ("C", "1", "rater1", "Non-translation!", "Major"),
        ("C", "1", "rater1", "Style/Unnatural or awkward", "Minor"),
    )
    chinese = archive(("A", "1", "rater1", "Source issue", "Minor"), ("B", "1", "rater1", "Other", "Minor"))
    data = read("wmt23-sxs-mqm", tmp_path, {"ende.3ratingsPerSegment.tsv.tar": german, "tar": chinese})
    assert data.annotator_names == ("ende/rater1", "zhen/rater1")  # two people
    assert data.group_names == ("ende/0001", "zhen/0001")
    assert data.block.tolist() == [0, 0, 0, 1]
    np.testing.assert_allclose(data.difference, [5.1 / 25, -20.9 / 25, -1, -1 / 25])
    assert data.texts[0] == "a A"
    assert data.side is None


def test_grades_of_images(tmp_path):
    pairs = "Query\tpair\ttags\nq\tbaidu/q_0.jpg,sogou/q_1.jpg\t-1\t1.0\t2\n"
    relevance = "Query\tImage\tScore\nq\tbaidu/q_0.jpg\t59.0\nq\tsogou/q_1.jpg\t83.3\n"
    data = read("thu-image-preference", tmp_path, {"annotation": pairs, "relevance_data": relevance})
    assert data.difference.tolist() == [-0.5, 0.5, 1]
    assert data.block.tolist() == [0, 0, 0]
    assert data.reference.tolist() == [59, 83.3]
    assert data.annotator is None
    assert data.side is None


def test_votes_on_photographs(tmp_path):
    votes = "0;1;2;1,1,0,-1,1\n2;1;2;-1,-1,-1,-1\n1;1;2;1,0-1,1,1\n"
    data = read("crowdpareto", tmp_path, {"results.txt": votes})
    assert data.ids == ("criterion 0/001", "criterion 0/002", "criterion 2/001", "criterion 2/002")
    np.testing.assert_allclose(data.difference, [-0.4, 1])
    assert data.votes.tolist() == [[3, 1, 1], [0, 4, 0]]


def test_edits_of_headlines(tmp_path):
    header = "id,original1,edit1,grades1,meanGrade1,original2,edit2,grades2,meanGrade2,label\n"
    row = r"1-2,Cat <eats/> dog,a\1,00000,0.0,Cat eats <dog/>,cake,33000,1.2,2"
    files = {"task-2-train.csv": header + row, "dev.csv": header, "label.csv": header + row, "funlines.csv": header}
    data = read("humicroedit", tmp_path, files)
    assert data.texts == (r"Cat a\1 dog", "Cat eats cake")
    assert data.ids == ("00000", "00001")
    assert data.part.tolist() == ["train", "test"]
    assert data.verdict.tolist() == [1, 1]
    assert data.group_names == ("Cat eats dog",)
    np.testing.assert_allclose(data.difference, 0.4)
    np.testing.assert_allclose(data.reference, [0, 1.2])


def test_votes_on_one_liners(tmp_path):
    data = read(
        "humour-puns", tmp_path, {"pairs.csv": "7,3\n3,7\n7,3\n7,9\n", "scores.txt": "3\t.1\tA\n9\t.2\tC\n7\t.3\tB\n"}
    )
    assert data.texts == ("A", "B", "C")
    np.testing.assert_allclose(data.difference, [1 / 3, -1])
    assert data.votes.tolist() == [[1, 2, 0], [1, 0, 0]]


def test_goals_of_matches(tmp_path):
    header = "date,home_team,away_team,home_score,away_score,tournament,city,country,neutral\n"
    rows = "2014-06-12,B,A,3,1,x,y,z,FALSE\n2014-06-13,A,C,0,9,x,y,z,TRUE\n2030-01-01,A,B,NA,NA,x,y,z,FALSE\n"
    data = read("football", tmp_path, {"results.csv": header + rows})
    assert data.ids == ("A", "B", "C")
    np.testing.assert_allclose(data.difference, [-0.4, 1])
    assert data.side.tolist() == [1, 0]
    assert data.date[0] == np.datetime64("2014-06-12")
    with pytest.raises(DamagedFile, match="no match with a result"):
        read("football", tmp_path, {"results.csv": header})


def test_items_without_features():
    data = of_ids("tea", ["a"], ["b"], [1.0])
    with pytest.raises(ValueError, match="the items of tea have no features"):
        _ = data.pairs
    with pytest.raises(ValueError, match="one row per item of tea, 2; got 3"):
        data.with_items(np.zeros((3, 1)))


def test_the_names_for_type_checkers_are_those_of_the_table():
    assert get_args(Judged) == names_of_kind("comparisons")


COUNTS = {  # pairs, items, annotators, groups
    "ukpconvarg1": (16_927, 1_052, 0, 32),
    "voice-likability-lab": (13 * 105, 15, 13, 0),
    "voice-likability-crowd": (1_365, 15, 77, 0),
    "wmt23-sxs-mqm": (14_040 + 50_895, 4_810, 18, 481),
    "thu-image-preference": (3 * 41_538, 2_919, 0, 102),
    "humicroedit": (9_381 + 2_355 + 2_960 + 1_958, 18_489, 0, 8_063),
    "crowdpareto": (14_849, 300, 0, 3),
    "football": (49_520, 337, 0, 0),
    "humour-puns": (28_118, 4_030, 0, 0),
}


@pytest.mark.data
@pytest.mark.parametrize("name", names_of_kind("comparisons"))
def test_real_counts(name):
    data = load(name)
    counts = (len(data), len(data.ids), len(data.annotator_names), len(data.group_names))
    assert counts == COUNTS[name]
    assert DATASETS[name].n_train == len(data.ids)
    assert np.abs(data.difference).max() <= 1
    assert (data.left != data.right).all() or name == "humicroedit"
    assert data.licence == DATASETS[name].licence
    assert data.citation


@pytest.mark.data
def test_every_listener_answered_every_pair():
    data = load("voice-likability-lab")
    assert np.bincount(data.annotator).tolist() == [105] * 13


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("voice-likability-lab", 0.6),
        ("voice-likability-crowd", 0.6),
        ("thu-image-preference", 0.6),
        ("humour-puns", 0.6),
    ],
)
def test_the_sign_of_differences_agrees_with_independent_scores(name, least):
    data = load(name)
    assert pairwise_accuracy(data.reference[data.right] - data.reference[data.left], data.difference) > least


@pytest.mark.data
def test_pairs_of_one_rater_and_segment_are_transitive():
    data = load("wmt23-sxs-mqm")
    assert np.bincount(data.block).tolist() == [45] * 1_443
    rows = np.flatnonzero(data.block == 7)
    scores = dict.fromkeys([data.left[rows[0]]], 0.0)
    for row in rows:
        scores.setdefault(data.right[row], scores[data.left[row]] + data.difference[row])
        assert data.difference[row] == pytest.approx(scores[data.right[row]] - scores[data.left[row]])
