"""Read and write the text of boosted trees, in the format of LightGBM.

LightGBM's own reader trusts its input: a damaged text can end the process. Here the text is parsed into arrays, these
are checked, and LightGBM only sees the text that is written again from them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.trees.tree import Tree

_MAX_CHARACTERS = 2**28
_MAX_TREES = 100_000
_END = "end of trees"
_INTEGERS = {
    "split_feature",
    "decision_type",
    "left_child",
    "right_child",
    "leaf_count",
    "internal_count",
    "cat_boundaries",
    "cat_threshold",
}
_NAMES = tuple(item.name for item in fields(Tree))


def trees_of_text(text: Any, n_features: int, n_scores: int = 1) -> list[Tree]:
    """Return the trees of a text of any origin, each checked.

    Parameters
    ----------
    text : str
        The text of a model of LightGBM.
    n_features : int
        The number of columns of the items.
    n_scores : int
        The number of scores of an item, which is the number of trees per round.

    Raises
    ------
    ValueError
        The text is not that of such a model.
    """
    if not isinstance(text, str) or len(text) > _MAX_CHARACTERS:
        raise ValueError(f"the text of trees must be a text of at most {_MAX_CHARACTERS} characters")
    header, *blocks = _blocks(text)
    expected = {"num_class": n_scores, "num_tree_per_iteration": n_scores, "max_feature_idx": n_features - 1}
    for name, value in expected.items():
        if header.get(name) != str(value):
            raise ValueError(f"the trees must have {name}={value}; got {header.get(name)!r:.40}")
    if not blocks or len(blocks) > _MAX_TREES or len(blocks) % n_scores:
        raise ValueError(f"the trees must be 1 to {_MAX_TREES}, {n_scores} per round; got {len(blocks)}")
    trees = [_tree(block) for block in blocks]
    for tree in trees:
        tree.check(n_features)
    return trees


def trees_of_own_text(text: str) -> list[Tree]:
    """Return the trees of a text that LightGBM or :func:`text_of_trees` wrote in this process, without checks."""
    return [_tree(block) for block in _blocks(text)[1:]]


def text_of_trees(trees: Sequence[Tree], n_features: int, n_scores: int = 1) -> str:
    """Return the text from which LightGBM and :func:`trees_of_text` read trees."""
    blocks = [_block(number, tree) for number, tree in enumerate(trees)]
    header = [
        "tree",
        "version=v4",
        f"num_class={n_scores}",
        f"num_tree_per_iteration={n_scores}",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        "feature_names=" + " ".join(f"Column_{index}" for index in range(n_features)),
        "feature_infos=" + " ".join(["none"] * n_features),
        "tree_sizes=" + " ".join(str(len(block)) for block in blocks),
    ]
    return "\n".join(header) + "\n\n" + "".join(blocks) + f"{_END}\n"


def _blocks(text: str) -> list[dict[str, str]]:
    """Return the entries of the header and of each tree."""
    body, end, _ = text.partition(f"\n{_END}\n")
    if not end:
        raise ValueError("the text of trees has no end; it is damaged or not one of trees")
    blocks: list[dict[str, str]] = [{}]
    for line in body.split("\n"):
        name, is_entry, value = line.partition("=")
        if name == "Tree":
            blocks.append({})
        if is_entry:
            blocks[-1][name] = value
    return blocks


def _tree(block: Mapping[str, str]) -> Tree:
    arrays = {name: _numbers(name, block.get(name, "")) for name in _NAMES}
    largest = np.finfo(np.float64).max
    arrays["threshold"] = arrays["threshold"].clip(-largest, largest)  # inf where only missing values go right
    return Tree(**arrays)


def _numbers(name: str, text: str) -> NDArray[Any]:
    is_integer = name in _INTEGERS
    kind: Any = int if is_integer else float
    try:
        return np.array([kind(word) for word in text.split()], dtype=np.int64 if is_integer else np.float64)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} of a tree must be numbers; got {text!r:.60}") from error


def _block(number: int, tree: Tree) -> str:
    lines = [
        f"Tree={number}",
        f"num_leaves={tree.n_leaves}",
        f"num_cat={max(len(tree.cat_boundaries) - 1, 0)}",
        *(f"{name}={_words(getattr(tree, name))}" for name in _NAMES if len(getattr(tree, name))),
        "is_linear=0",
        "shrinkage=1",
    ]
    return "\n".join(lines) + "\n\n\n"


def _words(values: NDArray[Any]) -> str:
    return " ".join(map(repr, values.tolist()))
