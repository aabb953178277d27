import threading

import numpy as np
import pytest
import torch

from confdiff.threads import LARGE_PRODUCT, computing, one_thread, policy, pools, threads_for, use_threads


@pytest.fixture
def eight_cpus(monkeypatch):
    """A process with eight processors and no settings of threads in its environment."""
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr(policy, "available_cpus", lambda: 8)


@pytest.fixture
def fake_pools(monkeypatch):
    """Two pools with eight threads each, instead of those of the libraries."""
    counts = {"blas": 8, "reading": 8}

    def pool(name, *, busy_waiting):
        return pools.Pool(name, lambda: counts[name], lambda n: counts.update({name: n}), busy_waiting)

    loaded = [pool("blas", busy_waiting=True), pool("reading", busy_waiting=False)]
    monkeypatch.setattr(pools, "loaded_pools", lambda: loaded)
    return counts


@pytest.mark.parametrize(("size", "expected"), [(0, 1), (LARGE_PRODUCT - 1, 1), (LARGE_PRODUCT, 8), (1e15, 8)])
def test_the_size_of_the_work_decides(eight_cpus, size, expected):
    assert threads_for(size) == expected


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"MKL_NUM_THREADS": "5"}, 5),
        ({"OMP_NUM_THREADS": "3", "MKL_NUM_THREADS": "5"}, 3),
        ({"OMP_NUM_THREADS": " 4,2"}, 4),
        ({"OMP_NUM_THREADS": "64"}, 64),
        ({"OMP_NUM_THREADS": "many"}, 1),
        ({"OMP_NUM_THREADS": "0"}, 1),
        ({"OMP_NUM_THREADS": ""}, 1),
    ],
)
def test_the_environment_wins_over_the_size(eight_cpus, monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert threads_for(10) == expected


def test_a_block_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with use_threads(5):
        assert threads_for(10) == 5
        with one_thread():
            assert threads_for(1e15) == 1
        assert threads_for(10) == 5
    assert threads_for(10) == 3


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2", None])
def test_a_number_of_threads_is_checked(threads):
    with pytest.raises(ValueError, match="threads must be a whole number of at least 1"), use_threads(threads):
        pass


def test_small_work_has_one_thread_and_large_work_all_processors(eight_cpus, fake_pools):
    with computing(10):
        assert fake_pools == {"blas": 1, "reading": 8}
        with computing(1e15):
            assert fake_pools == {"blas": 8, "reading": 8}
        assert fake_pools == {"blas": 1, "reading": 8}
    assert fake_pools == {"blas": 8, "reading": 8}


def test_a_number_that_the_program_has_set_is_not_exceeded(eight_cpus, fake_pools):
    fake_pools["blas"] = 2
    with computing(10):
        assert fake_pools["blas"] == 1
        with computing(1e15):
            assert fake_pools["blas"] == 2
    assert fake_pools["blas"] == 2


def test_pools_that_sleep_are_limited_by_the_quota(fake_pools, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr(policy, "available_cpus", lambda: 2)
    with computing(10):
        assert fake_pools == {"blas": 1, "reading": 2}


def test_an_explicit_number_is_exact_also_for_libraries_loaded_later(eight_cpus, fake_pools, monkeypatch):
    late = fake_pools.copy()
    with use_threads(12):
        assert fake_pools == {"blas": 12, "reading": 12}
        pool = pools.Pool("late", lambda: late["blas"], lambda n: late.update(blas=n))
        monkeypatch.setattr(pools, "loaded_pools", lambda: [pool])
        with computing(10):
            assert late["blas"] == 12
        assert late["blas"] == 8


def test_overlapping_blocks_of_two_threads_restore_the_first_numbers(eight_cpus, fake_pools):
    inside = threading.Event()
    end = threading.Event()

    def work():
        with computing(10):
            inside.set()
            assert end.wait(10)

    other = threading.Thread(target=work)
    with computing(10):
        other.start()
        assert inside.wait(10)
    assert fake_pools["blas"] in (1, 8)
    end.set()
    other.join()
    assert fake_pools == {"blas": 8, "reading": 8}


def test_blocks_restore_after_an_error(eight_cpus, fake_pools):
    with pytest.raises(KeyError), use_threads(2), computing(10):
        raise KeyError
    assert fake_pools == {"blas": 8, "reading": 8}
    assert threads_for(10) == 1


def test_the_pools_are_those_of_the_libraries():
    import pyarrow

    assert pyarrow.cpu_count() >= 1
    loaded = {pool.name for pool in pools.loaded_pools()}
    assert {"torch", "pyarrow"} <= loaded
    assert any("blas" in name.lower() or "mkl" in name.lower() for name in loaded), np.show_config()
    with use_threads(3):
        assert {pool.count() for pool in pools.loaded_pools()} == {3}
        assert torch.get_num_threads() == 3
