"""A trained recommender: saved as one file, and used to recommend items."""

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from confdiff.datasets.interactions import Interactions
from confdiff.io.damage import reporting_damage
from confdiff.io.decoding import check_object, decode, decode_fields
from confdiff.io.lookup import exact_ids, find_rows, rows_of_ids
from confdiff.io.outputs import check_new_file
from confdiff.io.tensors import check_tensors, load_tree, save_tree
from confdiff.models import RECOMMENDERS
from confdiff.recommender.confidence import CONFIDENCES
from confdiff.recommender.learning import Learning, scores_of
from confdiff.validation import check_choice, check_count

_REMEDY = "Restore it, or train the recommender again."


@dataclass(frozen=True, eq=False)
class Recommender:
    """A network of users and items, with their ids and the settings of its training.

    Attributes
    ----------
    network : torch.nn.Module
        The trained network.
    model : str
        Name of the network in :data:`confdiff.models.RECOMMENDERS`.
    user_ids, item_ids : ndarray
        Ids of the users and items, in the order of their indices.
    options : dict
        Settings of the training, and columns of the table, as plain values.
    """

    network: nn.Module
    model: str
    user_ids: NDArray[Any]
    item_ids: NDArray[Any]
    options: dict[str, Any]

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the recommender as one file of tensors with a JSON header.

        Parameters
        ----------
        path : path
            The file to write.
        overwrite : bool, default=False
            Replace a file that already exists.
        """
        check_new_file(Path(path), overwrite=overwrite)
        state = {
            "kind": "recommender",
            "model": self.model,
            "user_ids": self.user_ids.tolist(),
            "item_ids": self.item_ids.tolist(),
            "options": self.options,
            "weights": self.network.state_dict(),
        }
        save_tree(path, state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Recommender":
        """Read a file that :meth:`save` wrote. Nothing in the file is executed."""
        if not Path(path).is_file():
            raise FileNotFoundError(f"the recommender {os.fspath(path)} does not exist, or is not a file.")
        state = load_tree(path, remedy=_REMEDY)
        if state.get("kind") != "recommender":
            raise ValueError(f"{os.fspath(path)} must be a saved recommender; it holds something else.")
        with reporting_damage(path, _REMEDY):
            user_ids = _checked_ids("user_ids", state["user_ids"])
            item_ids = _checked_ids("item_ids", state["item_ids"])
            model = check_choice("model", state["model"], RECOMMENDERS)
            return cls(
                network=_restored_network(model, len(user_ids), len(item_ids), state["weights"]),
                model=model,
                user_ids=user_ids,
                item_ids=item_ids,
                options=_checked_options(state["options"]),
            )

    @property
    def table_options(self) -> dict[str, Any]:
        """The options, which must describe the table of the interactions."""
        if not self.options:
            raise ValueError("the recommender was saved without options, which name the columns of its table.")
        return self.options

    def top(self, users: ArrayLike, k: int = 10, seen: Interactions | None = None) -> dict[str, NDArray[Any]]:
        """Return the k best items of each user.

        Parameters
        ----------
        users : array-like of ids
            Users that were in training; numbers may be given as text.
        k : int, default=10
            Number of items per user.
        seen : Interactions or None, default=None
            Interactions whose items are not recommended to their users again.

        Returns
        -------
        dict of str to ndarray
            Columns ``user``, ``place`` (from 1), ``item`` and ``score``; best first.
        """
        rows = rows_of_ids(self.user_ids, np.asarray(users), name="users", among="the users in training")
        n_best = min(check_count("k", k), len(self.item_ids))
        seen_items = self._seen_items(seen)
        columns: dict[str, list[NDArray[Any]]] = {"user": [], "place": [], "item": [], "score": []}
        for row in rows.tolist():
            scores = self._item_scores(row)
            scores[seen_items.get(row, [])] = -np.inf
            order = np.argsort(-scores, kind="stable")[:n_best]
            order = order[np.isfinite(scores[order])]
            columns["user"].append(np.repeat(self.user_ids[row], len(order)))
            columns["place"].append(np.arange(1, len(order) + 1))
            columns["item"].append(self.item_ids[order])
            columns["score"].append(scores[order])
        return {name: np.concatenate(arrays) for name, arrays in columns.items()}

    def _item_scores(self, user: int) -> NDArray[Any]:
        """Return the scores of all items for one user."""
        n_items = len(self.item_ids)
        cells = torch.stack([torch.full((n_items,), user), torch.arange(n_items)], dim=1)
        return scores_of(self.network, cells).numpy().copy()

    def _seen_items(self, seen: Interactions | None) -> dict[int, NDArray[np.int64]]:
        """Return the items that each user has seen; users and items outside the training data are ignored."""
        if seen is None:
            return {}
        users = find_rows(self.user_ids, seen.user_ids)[seen.users]
        items = find_rows(self.item_ids, seen.item_ids)[seen.items]
        in_model = (users >= 0) & (items >= 0)
        users = users[in_model]
        items = items[in_model]
        order = np.argsort(users, kind="stable")
        owners, starts = np.unique(users[order], return_index=True)
        return dict(zip(owners.tolist(), np.split(items[order], starts[1:]), strict=True))


def _checked_ids(name: str, ids: Any) -> NDArray[Any]:
    """Return saved ids as an array; they must be different numbers or texts."""
    values = decode(tuple[int | float | str | bool, ...], ids, name)
    if not values or len(set(values)) < len(values):
        raise ValueError(f"{name} must be at least one id, and all different")
    return exact_ids(list(values))


def _restored_network(model: str, n_users: int, n_items: int, weights: Any) -> nn.Module:
    """Return the described network with the weights that were read; sizes are compared before memory is allocated."""
    with torch.device("meta"):
        described = RECOMMENDERS[model](n_users, n_items)
    tensors = check_tensors(f"the weights of a {model!r} network", weights, described.state_dict())
    network = RECOMMENDERS[model](n_users, n_items)
    network.load_state_dict(tensors)
    return network


def _checked_options(options: Any) -> dict[str, Any]:
    """Return saved options: none, or all of those that evaluation and recommendation use, checked."""
    checked = check_object("options", options)
    if not checked:
        return checked
    decode_fields(_TableOptions, {name: checked[name] for name in _TABLE_OPTIONS})
    Learning(**{item.name: checked[item.name] for item in fields(Learning) if item.name in checked})
    return checked


@dataclass(frozen=True)
class _TableOptions:
    """The options that describe the table of a saved recommender and its held-out interactions."""

    columns: dict[str, str | None]
    confidence: str
    threshold: float | None
    everything: bool
    n_negatives: int
    seed: int

    def __post_init__(self) -> None:
        check_choice("confidence", self.confidence, CONFIDENCES)
        if not {"user", "item", "strength"} <= set(self.columns) <= {"user", "item", "strength", "time"}:
            raise ValueError(f"columns must name user, item and strength; got {self.columns!r:.100}")
        unnamed = [role for role in ("user", "item", "strength") if self.columns[role] is None]
        if unnamed:
            raise ValueError(f"columns must name the column of {unnamed[0]}s")


_TABLE_OPTIONS = tuple(item.name for item in fields(_TableOptions))
