"""Describe boosted trees as the attributes of ONNX's operator ``TreeEnsembleRegressor``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.trees.tree import Tree

CategorySets = dict[int, NDArray[np.bool_]]
"""Column -> the distinct sets of its categories, (sets, categories)."""


def category_sets(trees: Sequence[Tree]) -> CategorySets:
    """Return the distinct sets of categories that splits compare with; empty without such splits."""
    masks: dict[int, set[tuple[bool, ...]]] = {}
    for tree in trees:
        for split in np.flatnonzero(tree.is_categorical):
            masks.setdefault(int(tree.split_feature[split]), set()).add(_members(tree, split))
    return {column: _stacked(masks[column]) for column in sorted(masks)}


def _members(tree: Tree, split: np.int64) -> tuple[bool, ...]:
    """Return whether each category is in the set of a split, without the categories after the last member."""
    number = int(tree.threshold[split])
    words = tree.cat_threshold[tree.cat_boundaries[number] : tree.cat_boundaries[number + 1]]
    bits = ((words[:, None] >> np.arange(32)) & 1).reshape(-1).astype(bool)
    return tuple(np.trim_zeros(bits, "b").tolist())


def _stacked(masks: set[tuple[bool, ...]]) -> NDArray[np.bool_]:
    """Return sets of categories as the rows of an array, in a fixed order."""
    ordered = sorted(masks)
    stacked = np.zeros((len(ordered), max(1, *map(len, ordered))), dtype=bool)
    for row, mask in enumerate(ordered):
        stacked[row, : len(mask)] = mask
    return stacked


def tree_attributes(trees: Sequence[Tree], n_features: int, sets: CategorySets) -> dict[str, Any]:
    """Return the attributes of the operator for trees of one score.

    The input has the features, and then a column for each set of categories: 1 where the category of the item is
    outside of the set, else 0.

    Parameters
    ----------
    trees : sequence of Tree
        The trees, whose values are added up.
    n_features : int
        The number of features.
    sets : dict
        The sets of :func:`category_sets`, in the order of their columns in the input.
    """
    positions = _positions(n_features, sets)
    parts = [_nodes(number, tree, positions) for number, tree in enumerate(trees)]
    attributes: dict[str, Any] = {name: [value for part in parts for value in part[name]] for name in parts[0]}
    for name in ("nodes_values", "target_weights"):
        attributes[f"{name}_as_tensor"] = _double_tensor(name, attributes.pop(name))
    return attributes | {"n_targets": 1, "aggregate_function": "SUM", "post_transform": "NONE"}


def _positions(n_features: int, sets: CategorySets) -> dict[tuple[int, tuple[bool, ...]], int]:
    """Return the input column of each set of categories."""
    keys = [(column, tuple(np.trim_zeros(mask, "b").tolist())) for column, masks in sets.items() for mask in masks]
    return {key: n_features + number for number, key in enumerate(keys)}


def _nodes(number: int, tree: Tree, positions: Mapping[Any, int]) -> dict[str, list[Any]]:
    """Return the nodes of a tree: its splits, then its leaves."""
    n_leaves = tree.n_leaves
    n_splits = n_leaves - 1
    columns = tree.split_feature.copy()
    for split in np.flatnonzero(tree.is_categorical):
        columns[split] = positions[int(tree.split_feature[split]), _members(tree, split)]
    zeros = [0] * n_leaves
    leaves = list(range(n_splits, n_splits + n_leaves))
    return {
        "nodes_treeids": [number] * (n_splits + n_leaves),
        "nodes_nodeids": list(range(n_splits + n_leaves)),
        "nodes_featureids": columns.tolist() + zeros,
        "nodes_values": np.where(tree.is_categorical, 0.5, tree.threshold).tolist() + zeros,
        "nodes_modes": ["BRANCH_LEQ"] * n_splits + ["LEAF"] * n_leaves,
        "nodes_truenodeids": _node_numbers(tree.left_child, n_splits) + zeros,
        "nodes_falsenodeids": _node_numbers(tree.right_child, n_splits) + zeros,
        "nodes_missing_value_tracks_true": tree.goes_left_if_missing.astype(int).tolist() + zeros,
        "target_treeids": [number] * n_leaves,
        "target_nodeids": leaves,
        "target_ids": zeros,
        "target_weights": tree.leaf_value.tolist(),
    }


def _node_numbers(children: NDArray[np.int64], n_splits: int) -> list[int]:
    numbers: list[int] = np.where(children >= 0, children, n_splits - 1 - children).tolist()
    return numbers


def _double_tensor(name: str, values: list[float]) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.array(values, dtype=np.float64), name)
