import numpy as np
import pyarrow
import pytest
import torch
from pyarrow import parquet

import confdiff
from confdiff.models import build_model
from confdiff.pairs import Pairs, StreamedPairs
from easy import easy_pairs
from streams import streamed, table_of, write


def of_epoch(stream, seed=0, epoch=0, swapped=False):
    """All pairs of an epoch in the order in which they come."""
    windows = [stream.shuffled(groups, seed, epoch, swapped=swapped) for groups in stream.windows(seed, epoch)]
    return [row for window in windows for row in table_of(window)]


def numbered(n=1000):
    """Pairs whose differences tell their places."""
    pairs = easy_pairs(n_pairs=n)
    return pairs.with_difference(torch.arange(n) / n)


def test_every_pair_comes_once_an_epoch(tmp_path):
    pairs = numbered(1050)
    stream = streamed(tmp_path, pairs)
    assert len(stream) == 1050
    assert sorted(of_epoch(stream)) == sorted(table_of(pairs))
    assert repr(stream) == "StreamedPairs(1050 pairs over 300 items of shape (3,), in 11 row groups)"
    assert confdiff.StreamedPairs is StreamedPairs


def test_the_order_depends_on_the_seed_and_the_epoch_alone(tmp_path):
    stream, again = (streamed(tmp_path, numbered()) for _ in range(2))
    assert of_epoch(stream) == of_epoch(again)
    assert of_epoch(stream) != of_epoch(stream, epoch=1)
    assert of_epoch(stream) != of_epoch(stream, seed=1)


def test_row_groups_are_mixed_inside_a_window(tmp_path):
    """Any hundred pairs in a row are of all row groups of their window, about alike."""
    stream = streamed(tmp_path, numbered(3000), window=1000)
    groups = np.array([round(c * 3000) // 100 for *_, c in of_epoch(stream)])
    for start in range(0, 3000, 100):
        counts = np.unique(groups[start : start + 100], return_counts=True)[1]
        assert len(counts) == 10
        assert counts.max() < 35
    firsts = [stream.windows(0, epoch)[0] for epoch in range(5)]
    assert len({tuple(sorted(window)) for window in firsts}) == 5
    assert all(len(window) == 10 for window in firsts)


def test_a_window_holds_as_many_row_groups_as_fit(tmp_path):
    stream = streamed(tmp_path, numbered(1050), window=399)
    windows = stream.windows(0, 0)
    assert sorted(number for window in windows for number in window) == list(range(11))
    assert all(sum(stream.counts[window]) <= 399 for window in windows)
    assert len(windows) == 4
    with pytest.warns(UserWarning, match=r"row group of 100 pairs, more than the window of 60.* groups of 15"):
        alone = streamed(tmp_path, numbered(1050), window=60)
    assert all(len(window) == 1 for window in alone.windows(0, 0))


def test_a_folder_of_files(tmp_path):
    pairs = numbered()
    for name, part in (("b", pairs[:250]), ("a", pairs[250:]), ("year=2024/c", pairs[:1])):
        write(tmp_path / f"{name}.parquet", part)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".b.parquet.tmp").touch()
    stream = StreamedPairs(pairs.items, tmp_path)
    assert sorted(of_epoch(stream)) == sorted([*table_of(pairs), table_of(pairs)[0]])


def test_items_are_mapped_into_memory(tmp_path):
    pairs = numbered()
    np.save(tmp_path / "items.npy", pairs.items.numpy())
    stream = StreamedPairs(tmp_path / "items.npy", write(tmp_path / "pairs.parquet", pairs))
    assert torch.equal(stream.items, pairs.items)
    assert of_epoch(stream) == of_epoch(StreamedPairs(pairs.items.numpy(), tmp_path / "pairs.parquet"))
    assert isinstance(np.load(tmp_path / "items.npy", mmap_mode="r"), np.memmap)


def test_columns_may_have_other_names_and_types(tmp_path):
    pairs = numbered()
    table = {
        "a": pairs.left.numpy().astype(np.uint16),
        "b": pairs.right.numpy().astype(np.float64),
        "c": pairs.difference.double().numpy(),
        "how sure": np.ones(1000),
        "note": ["-"] * 1000,
    }
    parquet.write_table(pyarrow.table(table), tmp_path / "pairs.parquet", row_group_size=100)
    stream = StreamedPairs(pairs.items, tmp_path, left="a", right="b", difference="c", weight="how sure")
    assert sorted(of_epoch(stream)) == sorted(table_of(pairs))


def test_weights_have_a_mean_of_one(tmp_path):
    weight = np.arange(1.0, 1001)
    plain = easy_pairs(n_pairs=1000)
    pairs = Pairs(plain.items, plain.left, plain.right, plain.difference)
    path = write(tmp_path / "pairs.parquet", pairs, weight=1e30 * weight)
    stream = StreamedPairs(pairs.items, path)
    read = torch.cat([stream.read(number).weight for number in range(10)])
    np.testing.assert_allclose(read, weight / weight.mean(), rtol=1e-6)
    assert StreamedPairs(pairs.items, path, weight=None).read(0).weight is None
    with pytest.raises(ValueError, match="must have a column 'sure'; it has left, right, difference, weight"):
        StreamedPairs(pairs.items, path, weight="sure")
    with pytest.raises(ValueError, match=r"column 'weight', must lie in \[0, inf\]; got -1 at row 150"):
        StreamedPairs(pairs.items, write(tmp_path / "bad.parquet", pairs, weight=np.where(weight == 151, -1.0, weight)))
    with pytest.raises(ValueError, match="weight must be above 0 for at least one pair"):
        StreamedPairs(pairs.items, write(tmp_path / "bad.parquet", pairs, weight=0 * weight))


def test_orientation_is_by_a_coin_for_each_pair_and_the_same_in_every_epoch(tmp_path):
    pairs = easy_pairs(n_pairs=1000)
    stream = streamed(tmp_path, pairs)
    shuffled, again = (sorted(of_epoch(stream, epoch=epoch, swapped=True)) for epoch in (0, 3))
    assert shuffled == again
    assert shuffled != sorted(of_epoch(stream, seed=1, swapped=True))
    given, swapped = set(table_of(pairs)), {(right, left, -c) for left, right, c in table_of(pairs)}
    assert all(row in given or row in swapped for row in shuffled)
    better_second = np.mean([c > 0 for *_, c in shuffled])
    assert 0.44 < better_second < 0.56
    flipped = pairs.oriented(pairs.difference < 0)  # a chosen/rejected file has the better item always second
    assert sorted(of_epoch(streamed(tmp_path / "flipped", flipped), swapped=True)) == shuffled


def test_items_left_out_are_not_trained_on(tmp_path):
    pairs = numbered()
    chosen = np.arange(300) < 30
    expected = sorted(row for row in table_of(pairs) if row[0] >= 30 and row[1] >= 30)
    stream = streamed(tmp_path, pairs, without_items=chosen)
    assert len(stream) == len(expected) < 900
    assert sorted(of_epoch(stream)) == expected
    assert sorted(of_epoch(streamed(tmp_path, pairs).without(torch.from_numpy(chosen)))) == expected
    more = stream.without(np.arange(300) >= 290)
    assert sorted(of_epoch(more)) == [row for row in expected if row[0] < 290 and row[1] < 290]
    assert len(stream) == len(expected)
    kept_coins = [row for row in sorted(of_epoch(streamed(tmp_path, pairs), swapped=True)) if min(row[:2]) >= 30]
    assert sorted(of_epoch(stream, swapped=True)) == kept_coins
    with pytest.raises(ValueError, match="touches none of the excluded items"):
        stream.without(np.ones(300, dtype=bool))
    with pytest.raises(ValueError, match=r"without_items must be true or false for each item, shape \(300,\); got"):
        streamed(tmp_path, pairs, without_items=[1, 2, 3])


def test_a_row_group_that_is_left_out_whole(tmp_path):
    pairs = easy_pairs(n_pairs=200)
    first = Pairs(pairs.items, torch.zeros(200), torch.arange(200), pairs.difference)
    first.right[:100] = 1
    stream = streamed(tmp_path, first, without_items=np.arange(300) == 1)
    assert stream.windows(0, 0) == [[1]]
    assert len(of_epoch(stream)) == 100


def test_a_sample_is_in_memory_and_uniform(tmp_path):
    pairs = numbered(2000)
    stream = streamed(tmp_path, pairs)
    sample = stream.sample(400, seed=3)
    assert isinstance(sample, Pairs)
    assert len(sample) == 400
    assert len(sample.items) == len(torch.unique(torch.cat([sample.left, sample.right])))
    rows = (sample.difference * 2000).round().long()
    assert torch.equal(sample.items[sample.left], pairs.items[pairs.left[rows]])
    assert torch.equal(sample.items[sample.right], pairs.items[pairs.right[rows]])
    assert torch.equal(stream.sample(400, seed=3).difference, sample.difference)
    assert not torch.equal(stream.sample(400, seed=4).difference, sample.difference)
    counts = sum(
        torch.bincount((stream.sample(200, seed=seed).difference * 20).long(), minlength=20) for seed in range(20)
    )
    assert counts.sum() == 4000
    assert (counts - 200).abs().max() < 60
    assert len(stream.sample(5000)) == 2000


def test_a_sample_of_pairs_that_touch_items(tmp_path):
    pairs = numbered()
    chosen = np.arange(300) < 30
    stream = streamed(tmp_path, pairs)
    sample, rest = stream.sample(5000, touching=chosen), stream.without(chosen)
    assert len(sample) + len(rest) == 1000
    touched = [c for left, right, c in table_of(pairs) if left < 30 or right < 30]
    assert sample.difference.tolist() == touched
    assert len(stream.sample(7, touching=chosen)) == 7
    with pytest.raises(ValueError, match="touches one of these items; got none"):
        rest.sample(5, touching=chosen)


def test_annotators_and_sides_are_streamed(tmp_path):
    pairs = numbered()
    number = np.arange(len(pairs))
    path = write(tmp_path / "pairs.parquet", pairs, judge=number % 7, shown=number % 3 - 1)
    stream = StreamedPairs(pairs.items, path, annotator="judge", side="shown", window=300)
    for groups in stream.windows(0, 0):
        window = stream.shuffled(groups, 0, 0, swapped=True)
        rows = (window.difference.abs() * 1000).round().long().numpy()  # their differences tell their places
        swapped = window.difference.numpy() < 0
        assert 0 < swapped.mean() < 1
        assert window.annotator.tolist() == (rows % 7).tolist()
        assert window.side.tolist() == np.where(swapped, 1 - rows % 3, rows % 3 - 1).tolist()
    assert set(stream.sample(200).annotators) == set(range(7))
    named = StreamedPairs(pairs.items, path, annotator="judge", annotator_names=tuple("abcdefg"))
    assert set(named.sample(200).annotators) == set("abcdefg")
    assert stream.identity()[0] != StreamedPairs(pairs.items, path, window=300).identity()[0]


def test_bad_annotators_and_sides_of_a_stream_are_named(tmp_path):
    pairs = numbered()
    numbers = np.zeros(len(pairs))
    numbers[642] = 1.5
    path = write(tmp_path / "pairs.parquet", pairs, judge=numbers)
    with pytest.raises(ValueError, match=r"pairs.parquet, column 'judge', must number .*; got 1.5 at row 642"):
        of_epoch(StreamedPairs(pairs.items, path, annotator="judge"))
    with pytest.raises(ValueError, match=r"pairs.parquet, column 'judge', must be 1 where .*; got 1.5 at row 642"):
        of_epoch(StreamedPairs(pairs.items, path, side="judge"))


def test_same_class_answers_are_streamed(tmp_path):
    pairs = easy_pairs()
    rows = np.arange(len(pairs))
    c = np.where(rows % 4 == 0, np.nan, pairs.difference.numpy())
    path = write(tmp_path / "pairs.parquet", pairs, difference=c, same=np.where(rows % 2 == 0, 1.0, np.nan))
    stream = StreamedPairs(pairs.items, path, window=300)
    assert len(stream.carrying("differences")) == 300
    assert len(stream.carrying("same")) == 200
    assert stream.carrying("differences and same") is stream
    for method in ("confdiff-regression", "confdiff-similarity", "sconf-abs"):
        network = build_model("linear", 3)
        history = confdiff.train(network, stream, method, prior=0.4, recipe=confdiff.Recipe(epochs=2, batch_size=64))
        assert np.isfinite(history[-1]["risk"])


def bad(path, pairs, **columns):
    return StreamedPairs(pairs.items, write(path / "pairs.parquet", pairs, **columns))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("left", 300, r"pairs.parquet, column 'left', must be row numbers of the items, 0 to 299; got 300 at row 642"),
        ("right", -1, r"pairs.parquet, column 'right', must be row numbers of the items, 0 to 299; got -1 at row 642"),
        ("right", 0.5, r"column 'right', must be whole row numbers into the items; got 0.5 at row 642"),
        ("left", None, r"column 'left', must be finite, without NaN or infinity; got nan at row 642"),
        ("difference", 1.7, r"column 'difference', must lie in \[-1, 1\]; got 1.7.* at row 642. Divide percentages"),
        ("difference", float("nan"), r"column 'difference', must be finite, .*; got nan at row 642"),
        ("difference", None, r"column 'difference', must be finite, .*; got nan at row 642"),
    ],
)
def test_bad_entries_are_named_by_file_and_row(tmp_path, column, value, message):
    pairs = numbered()
    values = getattr(pairs, column).tolist()
    values[642] = value
    stream = bad(tmp_path, pairs, **{column: values})
    with pytest.raises(ValueError, match=message):
        of_epoch(stream)
    with pytest.raises(ValueError, match=message):
        stream.sample(10)


def test_bad_files_are_named(tmp_path):
    pairs = numbered()
    path = write(tmp_path / "pairs.parquet", pairs)
    table = parquet.read_table(path)
    parquet.write_table(table.drop_columns("right"), tmp_path / "narrow.parquet")
    with pytest.raises(ValueError, match=r"narrow.parquet must have a column 'right'; it has left, difference\."):
        StreamedPairs(pairs.items, tmp_path)
    (tmp_path / "narrow.parquet").unlink()
    (tmp_path / "cut.parquet").write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"cut.parquet cannot be read as Parquet; it is damaged"):
        StreamedPairs(pairs.items, tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"must hold Parquet files, with names that end in .parquet; got none"):
        StreamedPairs(pairs.items, tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="does not exist; expected a Parquet file"):
        StreamedPairs(pairs.items, tmp_path / "nothing.parquet")
    parquet.write_table(table[:0], tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="at least one pair; got none"):
        StreamedPairs(pairs.items, tmp_path / "none.parquet")


def test_a_file_that_changes_under_way_is_named(tmp_path):
    pairs = numbered()
    stream = streamed(tmp_path, pairs)
    (tmp_path / "pairs.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"pairs.parquet cannot be read as Parquet"):
        of_epoch(stream)


def test_bad_items_are_named(tmp_path):
    pairs = numbered()
    path = write(tmp_path / "pairs.parquet", pairs)
    np.save(tmp_path / "wide.npy", pairs.items.double().numpy())
    with pytest.raises(ValueError, match=r"wide.npy: items must be a matrix of 32-bit floats.*got float64"):
        StreamedPairs(tmp_path / "wide.npy", path)
    with pytest.raises(ValueError, match=r"must be a matrix of 32-bit floats.* got float32, shape \(300,\)"):
        StreamedPairs(pairs.items[:, 0], path)
    with pytest.raises(ValueError, match=r"pairs.parquet: items must be an array in a .npy file"):
        StreamedPairs(path, path)
    spoiled = torch.where(torch.arange(900).view(300, 3) == 22, float("nan"), pairs.items)
    with pytest.raises(ValueError, match="items must be finite, without NaN or infinity; got nan at row 7, column 1"):
        StreamedPairs(spoiled, path)
    with pytest.raises(ValueError, match="window must be a whole number of at least 1; got 0"):
        StreamedPairs(pairs.items, path, window=0)
