"""A trained recommender as one file, and what it recommends."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from confdiff.io.lookup import find_rows, rows_of_ids
from confdiff.io.tensors import load_tree, save_tree
from confdiff.models import RECOMMENDERS
from confdiff.recommender.interactions import Interactions
from confdiff.recommender.learning import scores_of
from confdiff.validation import check_choice, check_count


@dataclass(frozen=True, eq=False)
class Recommender:
    """A network, the names of its users and items, and how it was trained.

    options: everything that training was told, as plain values.
    """

    network: nn.Module
    model: str
    user_ids: NDArray[Any]
    item_ids: NDArray[Any]
    options: dict[str, Any]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as one file of tensors with a JSON header."""
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
        """Read what :meth:`save` wrote. Nothing in the file is executed."""
        state = load_tree(path)
        if state.get("kind") != "recommender":
            raise ValueError(f"{os.fspath(path)} holds no recommender.")
        users, items = np.asarray(state["user_ids"]), np.asarray(state["item_ids"])
        network = RECOMMENDERS[check_choice("model", state["model"], RECOMMENDERS)](len(users), len(items))
        try:
            network.load_state_dict(state["weights"])
        except RuntimeError as error:
            raise ValueError(f"{os.fspath(path)} is damaged: its weights do not fit its {state['model']}.") from error
        return cls(network, state["model"], users, items, state["options"])

    def top(self, users: ArrayLike, k: int = 10, seen: Interactions | None = None) -> dict[str, NDArray[Any]]:
        """The k best items of each user, best first, as columns user, place, item and score.

        seen: interactions whose items are not recommended to their users again.
        """
        wanted = np.asarray(users)
        rows = rows_of_ids(self.user_ids, wanted, name="users", among="the users in training")
        n_items, best = len(self.item_ids), min(check_count("k", k), len(self.item_ids))
        known = self._seen(seen)
        columns: dict[str, list[NDArray[Any]]] = {"user": [], "place": [], "item": [], "score": []}
        for name, row in zip(wanted, rows, strict=True):
            cells = torch.stack([torch.full((n_items,), int(row)), torch.arange(n_items)], dim=1)
            scores = scores_of(self.network, cells).numpy().copy()
            scores[known.get(int(row), [])] = -np.inf
            order = np.argsort(-scores, kind="stable")[:best]
            order = order[np.isfinite(scores[order])]
            columns["user"].append(np.repeat(name, len(order)))
            columns["place"].append(np.arange(1, len(order) + 1))
            columns["item"].append(self.item_ids[order])
            columns["score"].append(scores[order])
        return {name: np.concatenate(parts) for name, parts in columns.items()}

    def _seen(self, seen: Interactions | None) -> dict[int, NDArray[np.int64]]:
        """The numbers of the items that each user has seen; names that the model does not know are no matter."""
        if seen is None:
            return {}
        users = find_rows(self.user_ids, seen.user_ids)[seen.users]
        items = find_rows(self.item_ids, seen.item_ids)[seen.items]
        both = (users >= 0) & (items >= 0)
        order = np.argsort(users[both], kind="stable")
        owners, starts = np.unique(users[both][order], return_index=True)
        return dict(zip(owners.tolist(), np.split(items[both][order], starts[1:]), strict=True))
