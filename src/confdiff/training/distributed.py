r"""The workers of one training run: each has a part of every batch, and all keep the same weights.

Symbols: :math:`r_w` the partial risks of the pairs of worker :math:`w`, as fractions of the whole batch,
:math:`R = \sum_w r_w`, :math:`f` a correction, :math:`\theta` the weights. The risk of a step is
:math:`\sum_k f(R_k)`. Each worker computes :math:`f'(R_k)\, \partial r_{w,k} / \partial \theta`, and these gradients
are added over workers. See :mod:`confdiff.reduction` for the sums inside the risks.
"""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from confdiff.engines import Member
from confdiff.randomness import derived_seed
from confdiff.training.exchange import open_exchange


class Workers:
    """The other processes of a run, as one of them sees them: a :class:`confdiff.reduction.Reducer`.

    Parameters
    ----------
    member : Member
        The place in the gang.

    Attributes
    ----------
    rank, size : int
        The number of this worker, and the number of workers.
    n_pairs : int
        The number of pairs of the current batch, over all workers.
    is_stopping : bool
        Whether rank 0 was asked to stop before the last step. It is the same in all workers.
    """

    def __init__(self, member: Member) -> None:
        self.member = member
        self.rank = member.rank
        self.size = member.size
        self.n_pairs = 0
        self.is_stopping = False
        self._exchange = open_exchange(member)
        self._buffer = torch.empty(0)

    def sum(self, values: Tensor) -> Tensor:
        """Add the values of all workers, in place, and return them."""
        self._exchange(values)
        return values

    def gather(self, values: Tensor) -> Tensor:
        """Return the values of all workers, in a new first dimension.

        For the few numbers of a batch norm, a sum is as fast as an exchange that only gathers.
        """
        parts = values.new_zeros((self.size, *values.shape))
        parts[self.rank] = values
        return self.sum(parts)

    def wait(self) -> None:
        """Wait until all workers are here."""
        self.sum(torch.zeros(1))

    def broadcast(self, value: Any) -> Any:
        """Return the value of rank 0; those of other ranks are ignored."""
        content = pickle.dumps(value) if self.rank == 0 else b""
        length = int(self.sum(torch.tensor([len(content)])))
        data = torch.from_numpy(np.frombuffer(content.ljust(length, b"\0"), dtype=np.uint8).copy())
        return pickle.loads(self.sum(data).numpy().tobytes())

    def add_gradients(self, parameters: Sequence[Tensor]) -> None:
        """Add the gradients of all workers, by one exchange of one buffer.

        A parameter that no worker has a gradient of keeps None. The buffer also carries the request to stop.
        """
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        sizes = [parameter.numel() for parameter in trained]
        n_flags = len(trained) + 1
        is_double = any(parameter.dtype == torch.float64 for parameter in trained)
        buffer = self._buffer_of(sum(sizes) + n_flags, torch.float64 if is_double else torch.float32)
        *parts, flags = torch.split(buffer, [*sizes, n_flags])
        views = [part.view(parameter.shape) for part, parameter in zip(parts, trained, strict=True)]
        has_gradient = [parameter.grad is not None for parameter in trained]
        for view, parameter in zip(views, trained, strict=True):
            if parameter.grad is None:
                view.zero_()
            else:
                view.copy_(parameter.grad)
        flags.copy_(torch.tensor([*has_gradient, self.rank == 0 and self.member.is_stopping()]))
        self.sum(buffer)
        *counts, stops = flags.tolist()
        for view, parameter, count in zip(views, trained, counts, strict=True):
            parameter.grad = view.to(parameter.dtype) if count else None
        self.is_stopping = stops > 0

    def _buffer_of(self, length: int, dtype: torch.dtype) -> Tensor:
        if len(self._buffer) != length:
            self._buffer = torch.empty(length, dtype=dtype)
        return self._buffer

    def check_sums(self, terms: Tensor, name: str) -> None:
        """Raise an error if partial risks differ between workers: then they are not sums over the whole batch."""
        all_terms = self.gather(terms.detach())
        if not torch.equal(all_terms.nan_to_num(), all_terms[:1].expand_as(all_terms).nan_to_num()):
            raise ValueError(
                f"the partial risks of method {name!r} are those of a part of the batch, so several workers cannot "
                "train with it: let them use confdiff.reduction.mean_over_pairs instead of a mean, or pass workers=1."
            )

    def seed_step(self, seed: int, step: int) -> None:
        """Give this worker random numbers of its own for a step, such as those of dropout.

        Rank 0 continues the stream of a run with one worker, which checkpoints save.
        """
        if self.rank:
            torch.manual_seed(derived_seed(seed, "training", "worker", self.rank, step))
