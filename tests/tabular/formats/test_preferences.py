import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff import fit_comparisons
from confdiff.tabular.comparisons import compare
from confdiff.tabular.formats.preferences import read_preferences, write_preferences
from confdiff.tabular.tables import read_items, read_judged

SHORT, LONG = "it is so", "it is so, for three reasons"


def written(folder, *lines):
    path = folder / "judged.jsonl"
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def preference(chosen=LONG, rejected=SHORT, **more):
    return {"chosen": chosen, "rejected": rejected} | more


def answers(n=40, seed=0):
    """Return texts whose quality is the fraction of good words, and preferences among them."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.02, 0.98, n)
    words = np.where(rng.random((n, 30)) < quality[:, None], "clear", "vague")
    texts = [f"answer {number} says " + " ".join(row) for number, row in enumerate(words)]
    lines = []
    for number in range(12 * n):
        worse, better = sorted(rng.choice(n, 2, replace=False).tolist())
        margin = round(float(quality[better] - quality[worse]), 3)
        context = {"margin": margin, "prompt": f"question {number % 5}", "judge": f"J{number % 3}"}
        lines.append(preference(texts[better], texts[worse], **context))
    return lines, texts, quality


def as_preferences(items, pairs):
    """Yield (better, worse, difference) of pairs, in whichever order their items come."""
    texts = dict(zip(items["id"], items["text"], strict=True))
    for left, right, c in zip(pairs["left"], pairs["right"], pairs["difference"], strict=True):
        yield (texts[right], texts[left], c) if c > 0 else (texts[left], texts[right], -c)


def test_texts_become_items_and_preferences_pairs(tmp_path):
    lines, texts, _ = answers()
    items, pairs = read_preferences(written(tmp_path, *lines))
    assert sorted(items["text"]) == sorted(texts)
    expected = [(line["chosen"], line["rejected"], line["margin"]) for line in lines if line["margin"]]
    assert list(as_preferences(items, pairs)) == expected
    assert pairs["prompt"].tolist() == [line["prompt"] for line in lines]
    assert pairs["judge"].tolist() == [line["judge"] for line in lines]
    assert len(set(pairs["group"])) == 5
    judged = read_judged(pairs)
    assert judged.names["group"] == "group"
    assert judged.names["annotator"] == "judge"


def test_the_better_text_is_first_as_often_as_second(tmp_path):
    path = written(tmp_path, *answers(100)[0])
    first, again, other = (read_preferences(path, seed=seed)[1]["difference"] for seed in (0, 0, 1))
    assert 0.45 < np.mean(first > 0) < 0.55
    assert first.tolist() == again.tolist() != other.tolist()


def test_ids_of_a_text_are_the_same_everywhere(tmp_path):
    first = read_preferences(written(tmp_path, preference(), preference(LONG, "no")))[0]
    other = read_preferences(written(tmp_path, preference("no", LONG)))[0]
    ids = dict(zip(first["text"], first["id"], strict=True))
    assert all(ids[text] == name for text, name in zip(other["text"], other["id"], strict=True))
    assert not any(name[0].isdigit() for name in ids.values())


@pytest.mark.parametrize(
    ("margins", "expected"),
    [
        ([0.25, 1], [0.25, 1]),
        ([1, 0, 4], [0.25, 0, 1]),
        ([9, 3], [1, 1 / 3]),
        ([30, 12.5], [0.3, 0.125]),
        ([None, 0.5], [1, 0.5]),
        ([None, 2, 1], [1, 1, 0.5]),
    ],
)
def test_margins_on_all_scales(tmp_path, margins, expected):
    path = written(tmp_path, *(preference(margin=margin) for margin in margins))
    differences = read_preferences(path)[1]["difference"]
    assert np.abs(differences).tolist() == pytest.approx(expected)
    assert not np.signbit(differences[differences == 0]).any()


def test_without_a_margin_a_preference_is_certain(tmp_path):
    pairs = read_preferences(written(tmp_path, preference()))[1]
    assert abs(pairs["difference"]).tolist() == [1]
    assert set(pairs) == {"left", "right", "difference"}


def test_the_margin_that_means_certainty_can_be_given(tmp_path):
    path = written(tmp_path, preference(margin=2), preference(margin=3.5))
    assert abs(read_preferences(path, max_margin=5)[1]["difference"]).tolist() == pytest.approx([0.4, 0.7])
    with pytest.raises(ValueError, match=r"the largest margin is 3\.5\. Pass it, such as max_margin=3\.5"):
        read_preferences(path)
    with pytest.raises(ValueError, match=r"line 2: the margin 3\.5 is above 3.*max_margin=3\.5"):
        read_preferences(path, max_margin=3)
    with pytest.raises(ValueError, match="max_margin must be above 0; got 0"):
        read_preferences(path, max_margin=0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"chosen": LONG, "margin": 1}, "line 3 must have 'rejected'; it has 'chosen' and 'margin'"),
        (preference(SHORT), "line 3: chosen and rejected are the same"),
        (preference(margin=-1), r"line 3: 'margin' must be at least 0.*got -1\. Swap"),
        (preference(margin="much"), "line 3: 'margin' must be a number up to 1e\\+100; got 'much'"),
        (preference(margin=True), "line 3: 'margin' must be a number up to 1e\\+100; got True"),
        (preference(margin=float("nan")), "line 3: 'margin' must be a number up to 1e\\+100; got nan"),
        (preference([{"role": "assistant"}]), "line 3: 'chosen' must be a text; got"),
        (preference(12), r"line 3: 'chosen' must be a text; got 12\. If these are ids, pass ids=True"),
        (preference("  "), "line 3: 'chosen' is empty"),
        (preference("half \ud83d"), "line 3: 'chosen' contains a lone surrogate"),
        (preference(margin=10**400), "line 3: 'margin' must be a number up to 1e\\+100; got 1000"),
        (preference(margin=-(10**400)), "line 3: 'margin' must be a number up to 1e\\+100; got -1000"),
        ('{"chosen": "a b", ', "line 3 is not valid JSON: "),
        ('{"chosen": ' + "[" * 100_000, "line 3 is nested too deeply. Correct or drop the line"),
        ('{"chosen": "a b", "rejected": "c d", "prompt": "\\ud800"}', "line 3: 'prompt' contains a lone surrogate"),
        ("[1]\n", "line 3 must be a JSON object"),
    ],
)
def test_unusable_lines_are_named(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        read_preferences(written(tmp_path, preference(), "\n", line))


def test_unusable_files_are_named(tmp_path):
    with pytest.raises(ValueError, match="at least one line"):
        read_preferences(written(tmp_path, "\n"))
    with pytest.raises(ValueError, match=r"name ends in \.jsonl; got 'judged\.csv'"):
        read_preferences(tmp_path / "judged.csv")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_preferences(tmp_path / "nothing.jsonl")
    (tmp_path / "latin.jsonl").write_bytes('{"chosen": "größer"}'.encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not UTF-8 text \(byte 0xf6 in line 1\)"):
        read_preferences(tmp_path / "latin.jsonl")


def test_ids_are_kept(tmp_path):
    path = written(tmp_path, preference("a7", "a8"), preference("a9", "a8"))
    with pytest.raises(ValueError, match="such as 'a7', look like ids"):
        read_preferences(path)
    items, pairs = read_preferences(path, ids=True)
    assert items.keys() == {"id"}
    assert items["id"].tolist() == ["a7", "a9", "a8"]
    frame = pd.DataFrame({"words": [3.0, 5.0, 4.0]}, index=["a7", "a8", "a9"])
    compared = compare(read_items(frame), read_judged(pairs))
    assert {frozenset(pair) for pair in zip(compared.left, compared.right, strict=True)} == {
        frozenset({0, 1}),
        frozenset({1, 2}),
    }


@pytest.mark.parametrize(("ids", "kind"), [([1, 2, 3], "i"), ([1, "b", 3], "O"), ([1, 2**70, 3], "O")])
def test_ids_are_all_numbers_or_all_text(tmp_path, ids, kind):
    lines = (preference(ids[0], ids[1]), preference(ids[1], ids[2]))
    items, pairs = read_preferences(written(tmp_path, *lines), ids=True)
    assert items["id"].dtype.kind == pairs["left"].dtype.kind == kind
    assert items["id"].tolist() == (ids if kind == "i" else [str(value) for value in ids])


def test_written_preferences_are_those_that_were_read(tmp_path):
    lines, texts, quality = answers()
    items, pairs = read_preferences(written(tmp_path, *lines))
    qualities = dict(zip(texts, quality, strict=True))
    write_preferences(tmp_path / "scored.jsonl", items, pairs, [qualities[text] for text in items["text"]])
    scored = [json.loads(line) for line in (tmp_path / "scored.jsonl").read_text().splitlines()]
    for line, was in zip(scored, lines, strict=True):
        assert [line[name] for name in ("prompt", "chosen", "rejected")] == [
            was[name] for name in ("prompt", "chosen", "rejected")
        ]
        assert line["margin"] == pytest.approx(was["margin"], abs=1e-3)


def test_preferences_of_frames_and_of_ids(tmp_path):
    items = pd.DataFrame({"id": ["a", "b"], "words": [1, 2]})
    pairs = pd.DataFrame({"left": ["b", "a"], "right": ["a", "b"]})
    write_preferences(tmp_path / "scored.jsonl", items, pairs, [0.2, 0.9])
    line = '{"chosen": "b", "rejected": "a", "margin": 0.7}\n'
    assert (tmp_path / "scored.jsonl").read_text() == 2 * line


def test_preferences_that_cannot_be_written(tmp_path):
    items, pairs = {"id": ["a", "b"]}, {"left": ["a"], "right": ["z"]}
    with pytest.raises(ValueError, match=r"one value per item, shape \(2,\); got \(1,\)"):
        write_preferences(tmp_path / "scored.jsonl", items, pairs, [0.5])
    with pytest.raises(ValueError, match="column 'right', row 0: the id 'z' is not among the items"):
        write_preferences(tmp_path / "scored.jsonl", items, pairs, [0.5, 0.6])
    assert not list(tmp_path.iterdir())


def test_the_quality_of_answers_is_learned(tmp_path):
    lines, texts, quality = answers()
    items, pairs = read_preferences(written(tmp_path, *lines))
    with pytest.warns(UserWarning, match="the differences do not determine the class prior"):
        model = fit_comparisons(items, pairs, model="linear", epochs=60)
    assert model.about.data.columns == {"text": "text"}
    p = model.predict_proba(pd.DataFrame({"text": texts}))[:, 1]
    assert np.corrcoef(p, quality)[0, 1] > 0.9


def test_command_writes_what_check_and_fit_take(tmp_path):
    written(tmp_path, *answers()[0])
    result = confdiff("preferences", "judged.jsonl", "-o", "tables", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "480 preferences among 40 texts; differences up to 0." in result.stdout
    items, pairs = (pd.read_csv(tmp_path / "tables" / f"{name}.csv") for name in ("items", "pairs"))
    expected = read_preferences(tmp_path / "judged.jsonl")
    assert items["text"].tolist() == expected[0]["text"].tolist()
    assert pairs["difference"].tolist() == expected[1]["difference"].tolist()
    checked = confdiff("check", "tables/items.csv", "tables/pairs.csv", "--json", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert {column["role"] for column in json.loads(checked.stdout)["pairs"]["columns"]} == {
        "left",
        "right",
        "difference",
        "group",
        "annotator",
    }


def test_command_takes_ids_and_keeps_existing_files(tmp_path):
    written(tmp_path, preference("a7", "a8"), preference("a9", "a8"))
    assert confdiff("preferences", "judged.jsonl", "-o", ".", "--ids", cwd=tmp_path).returncode == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["judged.jsonl", "pairs.csv"]
    again = confdiff("preferences", "judged.jsonl", "-o", ".", "--ids", cwd=tmp_path)
    assert again.returncode == 2
    assert "pairs.csv already exists" in again.stderr
    assert confdiff("preferences", "judged.jsonl", "-o", ".", "--ids", "--overwrite", cwd=tmp_path).returncode == 0
