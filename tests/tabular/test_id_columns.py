"""Columns of ids that are found by their values, in frames and files as users have them."""

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.tables import read_comparisons

RNG = np.random.default_rng(0)
N = 40
IDS = RNG.permutation(N) + 1  # 1 to 40, so that an index that counts rows holds nearly all of them
SKUS = np.array([f"S-{number:03}" for number in IDS])
LEFT = RNG.integers(N, size=100)
RIGHT = (LEFT + RNG.integers(1, N, size=100)) % N
X = RNG.normal(size=N)


def items(**columns):
    return pd.DataFrame({**columns, "x": X})


def pairs(ids=IDS, left="left", right="right", **columns):
    return pd.DataFrame({left: ids[LEFT], right: ids[RIGHT], **columns, "difference": X[RIGHT] - X[LEFT]})


def check_rows(table, judged):
    """Check that each pair is matched with the features of its items."""
    left, right = judged.rows(table)
    x = table.columns["x"]
    np.testing.assert_array_equal(x[right] - x[left], judged.difference)


REARRANGED = {
    "as it is": lambda frame: frame,
    "filtered": lambda frame: frame.drop(index=RNG.permutation(N)[:3]),
    "sorted": lambda frame: frame.sort_values("x"),
    "sampled": lambda frame: frame.sample(frac=1, random_state=0),
    "set_index": lambda frame: frame.set_index("id"),
    "set_index and kept": lambda frame: frame.set_index("id", drop=False),
    "unnamed index of ids": lambda frame: frame.set_index(pd.Index(frame["id"].astype(str).to_numpy())).drop(
        columns="id"
    ),
    "reset_index": lambda frame: frame.sort_values("x").reset_index(),
    "of two frames": lambda frame: pd.concat([frame.head(9), frame.tail(N - 9)]),
    "other index": lambda frame: frame.assign(ward=[f"W{i}" for i in range(N)]).set_index("ward"),
    "blanks in the name": lambda frame: frame.rename(columns={"id": " ID "}),
    "unusual name": lambda frame: frame.rename(columns={"id": "patient"}).sort_values("x"),
}


@pytest.mark.parametrize("rearranged", REARRANGED)
def test_the_column_of_ids_wins_over_an_index(rearranged):
    frame = REARRANGED[rearranged](items(id=IDS))
    ids = frame.reset_index(drop=True)["id"].to_numpy() if rearranged == "filtered" else IDS
    judged_pairs = pairs().loc[lambda table: table["left"].isin(ids) & table["right"].isin(ids)]
    table, judged = read_comparisons(frame, judged_pairs)
    check_rows(table, judged)
    assert not {"id", " ID ", "patient"} & set(table.columns)


@pytest.mark.parametrize("rearranged", [lambda frame: frame, lambda frame: frame[frame["x"] < 5].sort_values("x")])
def test_row_labels_are_ids_if_no_column_holds_them(rearranged):
    frame = rearranged(items(ward=["A", "B"] * (N // 2)))
    table, judged = read_comparisons(frame, pairs(np.arange(N)))
    check_rows(table, judged)
    assert list(table.columns) == ["ward", "x"]
    assert table.id_name == "id"


def test_a_repeated_row_does_not_make_the_row_labels_the_ids():
    numbers = IDS - 1  # the row labels hold all of them, too
    frame = items(patient=numbers)
    repeated = pd.concat([frame, frame.iloc[[7]]], ignore_index=True)
    with pytest.raises(ValueError, match=r"'patient' .* and 'index' .*id="):
        fit_comparisons(repeated, pairs(numbers), model="linear", epochs=1)
    with pytest.raises(ValueError, match="the ids must be unique"):
        fit_comparisons(repeated.assign(patient=[*SKUS, SKUS[7]]), pairs(SKUS), model="linear", epochs=1)


def test_one_column_to_ignore_may_be_a_text():
    table = fit_comparisons(
        items(id=IDS, notes=1.0),
        pairs(),
        ignore="notes",
        scale=(-10, 10),
        model="linear",
        epochs=1,
        prior=0.5,
        validation_fraction=0,
    )
    assert list(table.features.kinds_) == ["x"]


def test_ids_that_are_missing_after_a_filter_do_not_make_the_index_the_ids():
    frame = items(id=IDS).drop(index=3)
    table, _ = read_comparisons(frame, pairs())  # some pairs now have an unknown item, all of whose labels exist
    assert table.id_name == "id"
    assert "id" not in table.columns


def test_a_filtered_frame_is_learned_as_well_as_the_whole():
    frame = items(id=IDS, note=np.where(np.arange(N) == 7, None, "a"))
    judged = pairs()
    judged["difference"] = np.tanh(judged["difference"])
    present = ~judged[["left", "right"]].isin([IDS[7]]).any(axis=1)
    options = {"model": "linear", "epochs": 30, "validation_fraction": 0, "prior": 0.5, "ignore": ("note",)}
    model = fit_comparisons(frame.dropna(), judged[present], **options)
    assert model.about.data.columns == {"x": "number"}
    scores = model.predict_proba(frame)[:, 1]
    assert np.corrcoef(scores, X)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("item_columns", "pair_names", "id_name"),
    [
        ({"sku": SKUS}, ("left", "right"), "sku"),
        ({"sku": SKUS}, ("left_sku", "right_sku"), "sku"),
        ({"sku": SKUS}, ("rightSku", "leftSku"), "sku"),
        ({"patient": SKUS}, ("patient_b", "patient_a"), "patient"),
        ({"patient": SKUS, "ward": ["A"] * N}, ("patient1", "patient2"), "patient"),
        ({"name": [f"Ann {i}" for i in range(N)], "sku": SKUS}, ("left", "right"), "sku"),
        ({"id": np.arange(500, 500 + N), "sku": SKUS}, ("first_sku", "second_sku"), "sku"),
        ({"id": SKUS, "rank": IDS}, ("left", "right"), "id"),
        ({"ID": SKUS, "size": IDS[::-1]}, ("A", "B"), "ID"),
    ],
)
@pytest.mark.parametrize("in_files", [False, True])
def test_ids_with_any_name_are_found(item_columns, pair_names, id_name, in_files, tmp_path):
    sides = sorted(pair_names, key=lambda name: not name.lower().startswith(("left", "first", "a", "patient_a")))
    if pair_names == ("patient1", "patient2"):
        sides = list(pair_names)
    frame = items(**item_columns)
    judged_pairs = pairs(SKUS, *sides, annotator=1)[[*pair_names, "annotator", "difference"]]
    tables = (frame, judged_pairs)
    if in_files:
        tables = (tmp_path / "items.csv", tmp_path / "pairs.csv")
        frame.to_csv(tables[0], index=False)
        judged_pairs.to_csv(tables[1], index=False)
    table, judged = read_comparisons(*tables)
    assert table.id_name == id_name
    assert [judged.names["left"], judged.names["right"]] == sides
    check_rows(table, judged)


@pytest.mark.parametrize("types", [(int, str), (str, int), (str, "Int64"), ("category", int), (float, str)])
def test_ids_of_two_types_are_found(types):
    frame = items(id=IDS).astype({"id": types[0]}).iloc[::-1]
    check_rows(*read_comparisons(frame, pairs().astype({"left": types[1], "right": types[1]})))


def test_the_other_columns_of_pairs_are_not_taken_for_ids():
    more = {"judge": RNG.integers(1, 5, 100), "round": 1, "topic": RNG.integers(1, 9, 100)}
    table, judged = read_comparisons(items(id=IDS), pairs(left="item_1", right="item_2", **more))
    assert judged.names == {
        "left": "item_1",
        "right": "item_2",
        "difference": "difference",
        "annotator": "judge",
        "group": "topic",
    }
    check_rows(table, judged)


@pytest.mark.parametrize(
    ("item_columns", "pair_names", "message"),
    [
        (
            {"id": SKUS, "key": SKUS[::-1]},
            ("left", "right"),
            r"several columns of the items may hold the ids of the pairs: 'id' \(all of them\) and 'key' \(all of "
            r"them\)\. Name the right one with id='...'\.",
        ),
        ({"sku": SKUS, "code": SKUS[::-1]}, ("left", "right"), r"'sku' \(all of them\) and 'code' \(all of them\)"),
        (
            {"id": np.r_[SKUS[:30], ["?"] * 10], "code": SKUS},
            ("left", "right"),
            r"'id' \([\d.]+ % of them\) and 'code'",
        ),
        (
            {"sku": SKUS},
            ("home", "away"),
            r"the columns 'home' and 'away' of the pairs hold ids of the items: name the ",
        ),
        ({"x1": X}, ("one_sku", "two_sku"), "no column of the pairs is named 'left'"),
    ],
)
def test_what_is_ambiguous_is_an_error(item_columns, pair_names, message):
    with pytest.raises(ValueError, match=message):
        read_comparisons(items(**item_columns), pairs(SKUS, *pair_names))


def test_one_usual_name_determines_the_other_side():
    judged = read_comparisons(items(sku=SKUS), pairs(SKUS, "winner", "b"))[1]
    assert (judged.names["left"], judged.names["right"]) == ("winner", "b")


def test_an_index_that_counts_and_a_column_that_both_hold_the_ids_are_ambiguous():
    frame = items(rank=RNG.permutation(N))
    with pytest.raises(ValueError, match=r"'rank' \(all of them\) and 'index' \(the index\) \(all of them\)"):
        read_comparisons(frame, pairs(np.arange(N)))
    check_rows(*read_comparisons(frame, pairs(np.arange(N)), id="index"))
    check_rows(*read_comparisons(frame, pairs(np.arange(N)), ignore=["rank"]))
    assert read_comparisons(frame, pairs(np.arange(N)), id="rank")[0].id_name == "rank"


def test_equal_columns_of_ids_are_not_ambiguous():
    table, judged = read_comparisons(items(id=SKUS, key=SKUS), pairs(SKUS))
    assert table.id_name == "id"
    check_rows(table, judged)


def test_named_columns_always_win():
    frame = items(id=SKUS, key=SKUS[::-1])
    assert read_comparisons(frame, pairs(SKUS), id="key")[0].id_name == "key"
    swapped = read_comparisons(frame, pairs(SKUS), id="id", columns={"left": "right"})[1]
    assert (swapped.names["left"], swapped.names["right"]) == ("right", "left")
    with pytest.raises(ValueError, match=r"no column of the items is named 'sku' \(id='sku'\)"):
        read_comparisons(frame, pairs(SKUS), id="sku")
    with pytest.raises(ValueError, match=r"no column of the pairs is named 'A' \(left='A'\)"):
        read_comparisons(frame, pairs(SKUS), columns={"left": "A"})


def test_streams_find_the_same_columns(tmp_path):
    frame = items(name=["A"] * N, sku=SKUS)
    frame.to_csv(tmp_path / "items.csv", index=False)
    judged = pairs(SKUS, "sku_a", "sku_b").assign(difference=lambda table: np.tanh(table["difference"]))
    judged.to_parquet(tmp_path / "pairs.parquet")
    options = {"model": "linear", "epochs": 2, "validation_fraction": 0, "prior": 0.5, "ignore": ("name",)}
    streamed = fit_comparisons(tmp_path / "items.csv", tmp_path / "pairs.parquet", stream=True, **options)
    in_memory = fit_comparisons(frame, judged, **options)
    assert streamed.id_name == in_memory.id_name == "sku"
    assert streamed.about.data.id_type == "text"
    np.testing.assert_allclose(streamed.predict_proba(frame), in_memory.predict_proba(frame), atol=1e-5)
    judged.assign(sku_a="nowhere").to_parquet(tmp_path / "pairs.parquet")
    with pytest.raises(ValueError, match=r"no column of .*items.csv is named 'id', and none holds the ids of the p"):
        fit_comparisons(tmp_path / "items.csv", tmp_path / "pairs.parquet", stream=True, **options)


def test_commands_find_the_ids_and_predict_uses_those_of_the_model(tmp_path):
    frame = items(name=[f"Ann {i}" for i in range(N)], sku=SKUS)
    frame.to_csv(tmp_path / "items.csv", index=False)
    judged = pairs(SKUS, "sku_a", "sku_b").assign(difference=lambda table: np.tanh(table["difference"]).round(3))
    judged.to_csv(tmp_path / "pairs.csv", index=False)
    checked = confdiff("check", "items.csv", "pairs.csv", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "sku_a (left), sku_b (right)" in checked.stdout
    options = [
        "--model",
        "linear",
        "--link",
        "probability",
        "--epochs",
        "20",
        "--validation-fraction",
        "0",
        "--ignore",
        "name",
    ]
    fitted = confdiff("fit", "items.csv", "pairs.csv", *options, cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    # `id` has a usual name, but the ids of this model are in `sku`, whatever the order, case and blanks of names.
    others = frame.rename(columns={"sku": " SKU "}).assign(id=range(N))[["id", "name", "x", " SKU "]]
    others.to_csv(tmp_path / "others.csv", index=False)
    assert confdiff("predict", "model", "others.csv", cwd=tmp_path).returncode == 0
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert scores["id"].tolist() == SKUS.tolist()
    assert scores["probability"].corr(frame["x"]) > 0.9
    evaluated = confdiff("evaluate", "model", "others.csv", "--pairs", "pairs.csv", cwd=tmp_path)
    assert evaluated.returncode == 0, evaluated.stderr
