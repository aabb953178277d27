"""A trained recommender: saved as one file, and used to recommend items."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from confdiff.datasets.interactions import Interactions
from confdiff.io.lookup import exact_ids, find_rows, rows_of_ids
from confdiff.io.tensors import load_tree, save_tree
from confdiff.models import RECOMMENDERS
from confdiff.recommender.learning import scores_of
from confdiff.validation import check_choice, check_count


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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recommender as one file of tensors with a JSON header."""
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
        state = load_tree(path)
        if state.get("kind") != "recommender":
            raise ValueError(f"{os.fspath(path)} must be a saved recommender; it holds something else.")
        user_ids = exact_ids(state["user_ids"])
        item_ids = exact_ids(state["item_ids"])
        build = RECOMMENDERS[check_choice("model", state["model"], RECOMMENDERS)]
        network = build(len(user_ids), len(item_ids))
        try:
            network.load_state_dict(state["weights"])
        except RuntimeError as error:
            raise ValueError(f"{os.fspath(path)} is damaged: its weights do not fit its {state['model']}.") from error
        return cls(
            network=network,
            model=state["model"],
            user_ids=user_ids,
            item_ids=item_ids,
            options=state["options"],
        )

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
