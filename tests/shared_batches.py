"""Train with a batch that several workers share, in a module that the processes of a gang can import."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from scipy.sparse import csr_array
from torch import nn

from confdiff.methods import find_method
from confdiff.models import mlp
from confdiff.models.batch_norm import batch_norm_over_workers
from confdiff.pairs import Pairs
from confdiff.pairs.similarity import supervised_pairs
from confdiff.randomness import seeded
from confdiff.reduction import reducing
from confdiff.training import Recipe
from confdiff.training.distributed import Workers
from confdiff.training.run import Run
from streams import streamed

PRIOR = 0.3
FEATURES = 5


@dataclass(frozen=True)
class Case:
    """A method, a network and a size of batches."""

    method: str
    network: str = "mlp"
    weighted: bool = True
    batch_size: int = 50
    steps: int = 50
    double: bool = False
    forward_passes: int = 1
    n_pairs: int = 203
    data: str = "dense"

    def __str__(self):
        return "-".join(str(value) for value in vars(self).values())


@dataclass(frozen=True)
class Outcome:
    """What a case ends with."""

    terms: torch.Tensor
    gradients: torch.Tensor
    state: dict


def networks(name, n_scores=1):
    if name == "plain":
        return nn.Sequential(nn.Linear(FEATURES, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, n_scores))
    if name == "batch-norm-modules":
        return nn.Sequential(
            nn.BatchNorm1d(FEATURES), nn.Linear(FEATURES, 16), nn.BatchNorm1d(16, momentum=None), nn.ReLU(),
            nn.Linear(16, n_scores),
        )  # fmt: skip
    if name == "convolution":
        layers = [nn.Unflatten(1, (1, FEATURES)), nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten()]
        return nn.Sequential(*layers, nn.Linear(4 * (FEATURES - 2), n_scores))
    return mlp(FEATURES, n_scores, hidden=(16, 16))


def build(case):
    """Return the run of a case without workers, whose data and first weights are always the same."""
    method = find_method(case.method)
    rng = torch.Generator().manual_seed(7)
    items = torch.randn(80, FEATURES, generator=rng)
    posteriors = torch.sigmoid(2 * items[:, 0] - 1)
    labels = (torch.rand(80, generator=rng) < posteriors).long()
    left, right = torch.randint(80, (2, case.n_pairs), generator=rng)
    weight = torch.rand(case.n_pairs, generator=rng) + 0.1 if case.weighted else None
    known = Pairs(
        items,
        left,
        right,
        difference=posteriors[right] - posteriors[left],
        labels=labels.numpy(),
        posteriors=posteriors.numpy(),
        weight=weight,
    )
    pairs = supervised_pairs(known, method.learns_from)
    prior = None if method.prior == "unused" else PRIOR
    n_scores = 1
    if case.data == "group priors":
        prior = torch.where(pairs.left % 2 == 0, 0.25, 0.4)
    if case.data == "precision":
        noisy = pairs.difference + torch.randn(case.n_pairs, generator=rng) / 3
        pairs = pairs.with_precision(noisy, torch.rand(case.n_pairs, generator=rng) + 0.1)
    if case.data == "sparse":
        pairs = pairs.with_items(csr_array(items.numpy()))
    if case.data == "classes":
        posteriors = torch.softmax(items[:, :3], dim=1)
        pairs = Pairs(items, left, right, difference=posteriors[right] - posteriors[left], weight=weight)
        prior = torch.tensor([0.2, 0.3, 0.5])
        n_scores = 3
    with seeded(1, "network"):
        network = networks(case.network, n_scores)
    if case.double:
        network = network.double()
    with torch.no_grad():
        network[-1].weight.mul_(8)  # large scores: partial risks of both signs
    recipe = Recipe(batch_size=case.batch_size, epochs=100, device="cpu", forward_passes=case.forward_passes)
    return network, pairs, method, prior, recipe


def train_case(case, workers=None):
    """Return the partial risks and the gradient of the first step, and the weights after all steps."""
    network, pairs, method, prior, recipe = build(case)
    with tempfile.TemporaryDirectory() as folder:  # every process has its own copy of a stream
        if case.data == "stream":
            pairs = streamed(Path(folder), pairs, row_group_size=20, window=60)
        return train_run(network, pairs, method, prior, recipe, case.steps, workers)


def train_run(network, pairs, method, prior, recipe, steps, workers):
    seen = []

    def correction(terms):
        seen.append(terms.detach().clone())
        return method.correction(terms)

    run = Run(network, pairs, replace(method, correction=correction), prior, None, recipe, None, workers)
    network.train()
    with reducing(workers), batch_norm_over_workers():
        run.take_step()
        gradients = torch.cat([p.grad.reshape(-1).clone() for p in network.parameters()])
        for _ in range(steps - 1):
            run.take_step()
    state = {name: tensor.clone() for name, tensor in run.predictor.state_dict().items()}
    return Outcome(terms=seen[0], gradients=gradients, state=state)


def train_cases(member, cases):
    """Return the outcome of each case, or the error that it ended with in rank 0."""
    workers = Workers(member)
    torch.set_num_threads(1)
    return [train_case(case, workers) for case in cases]


def naive_gradients(member, cases):
    """Return the gradients of the first step if each worker corrects its own risks, and the gradients are averaged."""
    workers = Workers(member)
    return [naive_gradient(workers, case) for case in cases]


def naive_gradient(workers, case):
    network, pairs, method, prior, recipe = build(case)
    network.train()
    run = Run(network, pairs, method, prior, None, recipe, None, workers)
    rows, (*targets, weight, prior) = next(run.source.epoch(0, 0, []))
    g, g_prime = run._scores(run._gather(rows))
    options = {"prior": prior, "weight": weight, "loss": run.loss}
    method.risk(g, g_prime, *targets, **options).backward()
    gradients = torch.cat([p.grad.reshape(-1) for p in network.parameters()])
    return workers.sum(gradients * (len(g) / run.source.sizes[0]))
