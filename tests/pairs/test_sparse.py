import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from confdiff import Pairs
from confdiff.estimators.inputs import as_float_matrix, distinct_items
from confdiff.pairs import add_noise
from confdiff.pairs.describe import describe_pairs
from confdiff.pairs.forms import as_pairs
from confdiff.pairs.sparse import SparseItems, dense_batches, distinct_rows, require_dense
from confdiff.pairs.splitting import hold_out_pairs

DENSE = np.array([[0, 1.5, 0], [2, 0, -1], [0, 0, 0], [0, 1.5, 0]], dtype=np.float32)
ROWS = np.array([[0, 1], [1, 3], [3, 0]])
C = np.array([0.5, -0.25, 0.1])
FORMATS = [
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.coo_matrix,
    sparse.lil_matrix,
    sparse.csr_array,
    sparse.coo_array,
]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool])
def test_every_kind_of_sparse_matrix_is_stored_as_csr_of_32_bit_floats(form, dtype):
    pairs = Pairs.from_rows(ROWS, form(DENSE.astype(dtype)), C)
    assert isinstance(pairs.items, SparseItems)
    assert pairs.items.to_scipy().dtype == np.float32
    assert pairs.items.to_scipy().format == "csr"
    assert (pairs.items.dense().numpy() == DENSE.astype(dtype)).all()
    assert repr(pairs) == "Pairs(3 pairs over 4 items of shape (3,), with difference)"


def test_a_canonical_matrix_is_shared_and_another_one_is_not_changed():
    matrix = sparse.csr_array(DENSE)
    assert np.shares_memory(Pairs.from_rows(ROWS, matrix).items.to_scipy().data, matrix.data)
    repeated = sparse.csr_array((np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    items = Pairs([[0.0]] * 2, [0], [1]).with_items(repeated).items
    assert items.dense().tolist() == [[0, 3], [0, 0]]
    assert items.to_scipy().nnz == 1
    assert repeated.nnz == 3


BAD = {
    "nan": (sparse.csr_array([[0.0, 0.0], [0.0, np.nan]]), "got nan at row 1, column 1"),
    "infinity": (sparse.csr_array([[np.inf, 0.0]]), "got inf at row 0, column 0"),
    "too large": (sparse.csr_array([[0.0, 1e300]]), "at most 3.40282e\\+38 in size; got 1e\\+300 at row 0, column 1"),
    "complex": (sparse.csr_array([[1j, 0]]), "items must be numeric; got values of type complex"),
    "empty": (sparse.csr_array((0, 3)), "at least one item"),
    "a vector": (sparse.coo_array(np.array([1.0, 0.0])), r"got shape \(2,\)"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_sparse_matrices_are_named(what):
    matrix, message = BAD[what]
    with pytest.raises(ValueError, match=message):
        Pairs(matrix, [0], [0])


def test_sparse_tensors_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match="got a sparse tensor"):
        Pairs(torch.from_numpy(DENSE).to_sparse(), [0], [1])


def test_methods_of_pairs_keep_items_sparse():
    pairs = Pairs.from_rows(ROWS, sparse.csr_matrix(DENSE), C, labels=[0, 1, 1, 0])
    changed = {
        "a subset": pairs[1:],
        "compact": pairs.compact(),
        "graded": pairs.graded_by([0.1, 0.2, 0.3, 0.4]),
        "swapped": pairs.shuffled_orientation(0),
        "noisy": add_noise(pairs, "additive", 0.1),
        "weighted": as_pairs(pairs, weight=[1, 2, 3]),
        "as floats": as_float_matrix(pairs),
        "scaled": pairs.with_items(pairs.items.to_scipy() * 2),
        "of two": Pairs.from_two(sparse.csr_matrix(DENSE), sparse.coo_array(DENSE[::-1])),
    }
    assert {name: type(value.items) for name, value in changed.items()} == dict.fromkeys(changed, SparseItems)
    assert changed["compact"].items.dense().tolist() == DENSE[[0, 1, 3]].tolist()
    assert changed["of two"].items.dense().tolist() == [*DENSE.tolist(), *DENSE[::-1].tolist()]
    assert describe_pairs(pairs).n_items == 3
    assert pairs.n_components() == 1
    with pytest.raises(ValueError, match="as many as the old ones, 4; got 2"):
        pairs.with_items(sparse.csr_matrix(DENSE[:2]))


def test_splitting_needs_no_dense_items():
    matrix = sparse.eye_array(50, format="csr")
    pairs = Pairs(matrix, range(49), range(1, 50), np.linspace(-1, 1, 49))
    training, held_out = hold_out_pairs(pairs, 0.2, seed=0)
    assert isinstance(training.items, SparseItems)
    assert len(training) + len(held_out) == 49


def test_batches_have_at_most_64_mb():
    wide = SparseItems(sparse.csr_array((3, 2**23), dtype=np.float32))
    assert [len(batch) for batch in dense_batches(wide, 1024)] == [2, 1]
    assert wide.dense([1, 0], out=torch.ones(2, 2**23)).sum() == 0


def test_operations_that_need_dense_items_say_so():
    with pytest.raises(ValueError, match="saving a task needs dense items; got a sparse matrix"):
        require_dense(SparseItems(sparse.csr_array(DENSE)), "saving a task")


SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 4))


@given(arrays(np.float32, SHAPES, elements=st.sampled_from([0, 0, -2, -1, 1, 3])))
def test_distinct_rows_are_those_of_numpy_in_the_same_order(matrix):
    distinct, position = distinct_rows(sparse.csr_array(matrix))
    expected, expected_position = np.unique(matrix, axis=0, return_inverse=True)
    assert (distinct.toarray() == expected).all()
    assert (position == expected_position.reshape(-1)).all()


@given(arrays(np.float32, (6, 2), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_distinct_rows_are_sorted_by_value(matrix):
    matrix = matrix + np.float32(0)  # no negative zeros, which a sparse matrix does not store
    distinct, _ = distinct_rows(sparse.csr_array(matrix))
    assert (distinct.toarray() == np.unique(matrix, axis=0)).all()


def test_distinct_items_of_sparse_pairs_are_those_of_dense_pairs():
    items, left, right = distinct_items(Pairs.from_rows(ROWS, sparse.csr_matrix(DENSE), C))
    expected, expected_left, expected_right = distinct_items(Pairs.from_rows(ROWS, DENSE, C))
    assert (items.toarray() == expected).all()
    assert left.tolist() == expected_left.tolist()
    assert right.tolist() == expected_right.tolist()
