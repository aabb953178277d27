import json

import numpy as np
import pandas as pd
import pytest

from confdiff import fit_comparisons
from confdiff.tabular.comparisons import compare
from confdiff.tabular.formats.exporting import export_judgements
from confdiff.tabular.formats.importing import import_judgements
from confdiff.tabular.tables import read_items, read_judged

SHORT, LONG = "it is so", "it is so, for three reasons"


def written(folder, *lines):
    path = folder / "judged.jsonl"
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def tables(path, *, ids=False, **options):
    """Return the items and pairs of a file."""
    imported = import_judgements(path, item_kind="ids" if ids else None, **options)
    return imported.items, imported.pairs


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
    items, pairs = tables(written(tmp_path, *lines))
    assert sorted(items["text"]) == sorted(texts)
    expected = [(line["chosen"], line["rejected"], line["margin"]) for line in lines if line["margin"]]
    assert list(as_preferences(items, pairs)) == expected
    assert pairs["prompt"].tolist() == [line["prompt"] for line in lines]
    assert pairs["annotator"].tolist() == [line["judge"] for line in lines]
    assert len(set(pairs["group"])) == 5
    judged = read_judged(pairs)
    assert judged.names["group"] == "group"
    assert judged.names["annotator"] == "annotator"


def test_the_better_text_is_first_as_often_as_second(tmp_path):
    path = written(tmp_path, *answers(100)[0])
    first, again, other = (tables(path, seed=seed)[1]["difference"] for seed in (0, 0, 1))
    assert 0.45 < np.mean(first > 0) < 0.55
    assert first.tolist() == again.tolist() != other.tolist()


def test_ids_of_a_text_are_the_same_everywhere(tmp_path):
    first = tables(written(tmp_path, preference(), preference(LONG, "no")))[0]
    other = tables(written(tmp_path, preference("no", LONG)))[0]
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
    differences = tables(path)[1]["difference"]
    assert np.abs(differences).tolist() == pytest.approx(expected)
    assert not np.signbit(differences[differences == 0]).any()


def test_without_a_margin_a_preference_is_certain(tmp_path):
    pairs = tables(written(tmp_path, preference()))[1]
    assert abs(pairs["difference"]).tolist() == [1]
    assert set(pairs) == {"left", "right", "difference"}


def test_the_margin_that_means_certainty_can_be_given(tmp_path):
    path = written(tmp_path, preference(margin=2), preference(margin=3.5))
    assert abs(tables(path, max_margin=5)[1]["difference"]).tolist() == pytest.approx([0.4, 0.7])
    with pytest.raises(ValueError, match=r"the largest margin is 3\.5\. Pass it, such as max_margin=3\.5"):
        tables(path)
    with pytest.raises(ValueError, match=r"line 2: the margin 3\.5 is above 3.*max_margin=3\.5"):
        tables(path, max_margin=3)
    with pytest.raises(ValueError, match="max_margin must be above 0; got 0"):
        tables(path, max_margin=0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"chosen": LONG, "margin": 1}, "line 3 must have 'rejected'; it has 'chosen' and 'margin'"),
        (preference(margin=-1), r"line 3: 'margin' must be at least 0.*got -1\. Swap"),
        (preference(margin="much"), "line 3: 'margin' must be a number up to 1e\\+100; got 'much'"),
        (preference(margin=True), "line 3: 'margin' must be a number up to 1e\\+100; got True"),
        (preference(margin=float("nan")), "line 3: 'margin' must be a number up to 1e\\+100; got nan"),
        (preference([{"role": "assistant"}]), "line 3: 'chosen' and 'rejected' must both be texts or both be"),
        (preference([{"role": "a"}], [{"role": "a"}]), "line 3: message 1 of 'chosen' must have a role and a content"),
        (preference([], []), "line 3: 'chosen' and 'rejected' must have a message each"),
        (preference({"text": "a"}), "line 3: 'chosen' must be a text; got"),
        (preference(12), r"line 3: 'chosen' must be a text; got 12\. If these are ids, pass item_kind='ids'"),
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
        tables(written(tmp_path, preference(), "\n", line))


def test_unusable_files_are_named(tmp_path):
    with pytest.raises(ValueError, match="at least one record"):
        import_judgements(written(tmp_path, "\n"))
    with pytest.raises(FileNotFoundError, match="does not exist"):
        import_judgements(tmp_path / "nothing.jsonl")
    (tmp_path / "latin.jsonl").write_bytes('{"chosen": "größer"}'.encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not UTF-8 text \(byte 0xf6 in line 1\)"):
        import_judgements(tmp_path / "latin.jsonl")


def test_ids_are_kept(tmp_path):
    path = written(tmp_path, preference("a7", "a8"), preference("a9", "a8"))
    with pytest.warns(UserWarning, match=r"such as 'a\d', look like ids.*pass item_kind='ids'"):
        tables(path)
    items, pairs = tables(path, ids=True)
    assert items.keys() == {"id"}
    assert sorted(items["id"]) == ["a7", "a8", "a9"]
    frame = pd.DataFrame({"words": [3.0, 5.0, 4.0]}, index=["a7", "a8", "a9"])
    compared = compare(read_items(frame), read_judged(pairs))
    assert {frozenset(pair) for pair in zip(compared.left, compared.right, strict=True)} == {
        frozenset({0, 1}),
        frozenset({1, 2}),
    }


@pytest.mark.parametrize(("ids", "kind"), [([1, 2, 3], "i"), ([1, "b", 3], "O"), ([1, 2**70, 3], "O")])
def test_ids_are_all_numbers_or_all_text(tmp_path, ids, kind):
    lines = (preference(ids[0], ids[1]), preference(ids[1], ids[2]))
    items, pairs = tables(written(tmp_path, *lines), ids=True)
    assert items["id"].dtype.kind == pairs["left"].dtype.kind == kind
    assert set(items["id"]) == set(ids if kind == "i" else map(str, ids))


def test_the_scores_of_a_model_become_margins(tmp_path):
    lines, texts, quality = answers()
    imported = import_judgements(written(tmp_path, *lines))
    score = dict(
        zip(
            imported.items["id"],
            [dict(zip(texts, quality, strict=True))[t] for t in imported.items["text"]],
            strict=True,
        )
    )
    learned = [
        score[right] - score[left] for left, right in zip(imported.pairs["left"], imported.pairs["right"], strict=True)
    ]
    pairs = imported.pairs | {"difference": np.array(learned)}
    export_judgements(tmp_path / "scored.jsonl", imported.items, pairs, format="trl")
    scored = [json.loads(line) for line in (tmp_path / "scored.jsonl").read_text().splitlines()]
    for line, was in zip(scored, lines, strict=True):
        assert [line[name] for name in ("prompt", "chosen", "rejected")] == [
            was[name] for name in ("prompt", "chosen", "rejected")
        ]
        assert line["margin"] == pytest.approx(was["margin"], abs=1e-3)


def test_scores_are_margins(tmp_path):
    rows = [preference(score_chosen=9, score_rejected=4), preference("other words", score_chosen=3, score_rejected=3)]
    imported = import_judgements(written(tmp_path, *rows))
    assert abs(imported.pairs["difference"]).tolist() == [1, 0]
    better = imported.pairs["difference"][0] > 0
    assert imported.pairs["right_score" if better else "left_score"][0] == 9
    with pytest.raises(ValueError, match=r"line 1: 'score_chosen - score_rejected' must be at least 0.*got -2"):
        import_judgements(written(tmp_path, preference(score_chosen=1, score_rejected=3)))
    own = preference(score_chosen=9, score_rejected=4, margin=0.25)
    assert abs(import_judgements(written(tmp_path, own)).pairs["difference"]).tolist() == [0.25]


def test_chosen_texts_that_are_rejected_too_are_counted(tmp_path):
    imported = import_judgements(written(tmp_path, preference(), preference(SHORT)))
    assert imported.skipped == {"pairs of an item with itself": 1}
    assert len(imported.pairs["left"]) == 1
    with pytest.raises(ValueError, match="no judgement that can be used; skipped: pairs of an item with itself: 1"):
        import_judgements(written(tmp_path, preference(SHORT)))


def test_the_quality_of_answers_is_learned(tmp_path):
    lines, texts, quality = answers()
    items, pairs = tables(written(tmp_path, *lines))
    with pytest.warns(UserWarning, match="the differences do not determine the class prior"):
        model = fit_comparisons(items, pairs, model="linear", epochs=60)
    assert model.about.data.columns == {"text": "text"}
    p = model.predict_proba(pd.DataFrame({"text": texts}))[:, 1]
    assert np.corrcoef(p, quality)[0, 1] > 0.9
