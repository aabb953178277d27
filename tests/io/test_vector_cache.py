"""Check the cache of computed vectors: shared by processes, bounded, and never needed."""

import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from confdiff.io import vector_cache
from confdiff.io.vector_cache import cache_file, cache_vectors, cached_vectors

MATRIX = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture(autouse=True)
def _new_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFDIFF_CACHE", str(tmp_path))


def test_vectors_come_back_bit_for_bit_by_encoder_and_content():
    cache_vectors("one", ["a", "b", "c"], MATRIX)
    cache_vectors("two", ["a"], -MATRIX[:1])
    found = cached_vectors("one", ["c", "x", "a"])
    assert sorted(found) == ["a", "c"]
    np.testing.assert_array_equal(found["c"], MATRIX[2])
    np.testing.assert_array_equal(cached_vectors("two", ["a"])["a"], -MATRIX[0])


def test_a_full_cache_drops_what_was_not_used_for_the_longest_time(monkeypatch):
    monkeypatch.setattr(vector_cache, "MOST_BYTES", 60_000)
    for day in range(40):
        monkeypatch.setattr(vector_cache, "_today", lambda day=day: day)
        cache_vectors("one", [f"{day} {number}" for number in range(10)], np.ones((10, 40), dtype=np.float32))
        cached_vectors("one", ["0 0"])  # in use every day
    assert cache_file().stat().st_size < 100_000
    assert list(cached_vectors("one", ["0 0", "0 1", "39 9"])) == ["0 0", "39 9"]


DAMAGED = {
    "another length": lambda blob: blob[4:],
    "no whole number": lambda blob: blob[1:],
    "nothing": lambda blob: b"",
    "a changed bit": lambda blob: bytes([blob[0] ^ 1]) + blob[1:],
    "text": lambda blob: "text",
    "not finite": lambda blob: vector_cache._packed("one", "a", np.array([np.nan, 1], dtype=np.float32)),
    "64 bits": lambda blob: MATRIX[0].astype("<f8").tobytes(),
    "of another text": lambda blob: vector_cache._packed("one", "b", MATRIX[0]),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_vectors_are_not_read_and_replaced(damage):
    cache_vectors("one", ["a", "b"], MATRIX[:2])
    with sqlite3.connect(cache_file()) as connection:
        (blob,) = connection.execute("SELECT vector FROM vectors WHERE content = 'a'").fetchone()
        connection.execute("UPDATE vectors SET vector = ? WHERE content = 'a'", [DAMAGED[damage](blob)])
    connection.close()
    assert list(cached_vectors("one", ["a", "b"])) == ["b"]
    cache_vectors("one", ["a"], MATRIX[:1])
    np.testing.assert_array_equal(cached_vectors("one", ["a"])["a"], MATRIX[0])


def test_a_cache_that_cannot_be_written_is_read(monkeypatch):
    cache_vectors("one", [str(number) for number in range(1200)], np.ones((1200, 2), dtype=np.float32))
    monkeypatch.setattr(vector_cache, "_PATIENCE", 0.01)
    with sqlite3.connect(cache_file()) as other:
        other.execute("BEGIN IMMEDIATE")  # another process writes
        assert len(cached_vectors("one", [str(number) for number in range(1200)])) == 1200
    other.close()


def test_a_damaged_cache_is_reported_and_not_needed():
    cache_file().parent.mkdir(parents=True)
    cache_file().write_bytes(b"no database" * 1000)
    with pytest.warns(UserWarning, match="cannot be used: file is not a database"):
        assert cached_vectors("one", ["a"]) == {}
    with pytest.warns(UserWarning, match="Vectors are computed again"):
        cache_vectors("one", ["a"], MATRIX[:1])


def test_processes_write_at_the_same_time():
    code = (
        "import sys, numpy as np\n"
        "from confdiff.io.vector_cache import cache_vectors\n"
        "for i in range(20): cache_vectors('one', [f'{sys.argv[1]} {i}'], np.full((1, 3), i, dtype=np.float32))\n"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, str(number)]) for number in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    names = [f"{number} {i}" for number in range(3) for i in range(20)]
    assert sorted(cached_vectors("one", names)) == sorted(names)


def test_a_killed_write_leaves_no_vector():
    cache_vectors("one", ["a"], MATRIX[:1])
    connection = sqlite3.connect(cache_file())
    connection.execute("INSERT INTO vectors VALUES ('one', 'b', 0, x'00')")
    connection.close()  # without a commit, as after a kill
    assert list(cached_vectors("one", ["a", "b"])) == ["a"]
