"""Train with a checkpoint in several processes, in a module that the processes of a gang can import."""

import os
import signal
from dataclasses import replace
from functools import partial

import torch
from torch import nn

from confdiff.methods import find_method
from confdiff.training import Recipe
from confdiff.training.distributed import Workers
from confdiff.training.loop import Job, run_loop
from easy import easy_pairs


def network(dropout=0.0):
    torch.manual_seed(0)
    layers = [nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 1)]
    return nn.Sequential(*layers).double()


def job(checkpoint, dropout=0.0):
    return Job(
        model=network(dropout),
        pairs=easy_pairs(n_pairs=60),
        method=find_method("confdiff-abs"),
        prior=0.5,
        loss=None,
        recipe=Recipe(epochs=4, batch_size=20, device="cpu"),
        evaluate=None,
        evaluate_at=None,
        keep_best=None,
        patience=None,
        checkpoint=checkpoint,
        checkpoint_seconds=0,
    )


def train_until(job, steps, workers=None):
    """Train a job, stop after some steps, and return the weights."""
    done = []
    run_loop(job, show=done.append, is_interrupted=lambda: len(done) >= steps, workers=workers)
    return {name: tensor.clone() for name, tensor in job.model.state_dict().items()}


def train_in_parts(member, folder, dropout):
    """Return the weights of a run, of the same run in two parts, and of one that a single process began."""
    workers = Workers(member)
    whole = train_until(job(f"{folder}/whole", dropout), 100, workers)
    train_until(job(f"{folder}/parts", dropout), 5, workers)
    parts = train_until(job(f"{folder}/parts", dropout), 100, workers)
    mixed = train_until(job(f"{folder}/one", dropout), 100, workers)
    return whole, parts, mixed


def die_in_epoch_2(epochs, model):
    """Evaluate; the second evaluation of the process kills it."""
    epochs.append(len(epochs))
    if len(epochs) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"epochs": len(epochs)}


def living(model):
    """Evaluate as :func:`die_in_epoch_2` does, without an end."""
    return {"epochs": 1}


def mean_of_the_own_part(g, g_prime, c, *, prior, weight=None, loss=None):
    """Return a partial risk that is not a sum over all workers."""
    return ((g_prime - g - c) ** 2).mean().reshape(1)


WRONG = replace(find_method("confdiff-unbiased"), name="mine", terms=mean_of_the_own_part, term_names=("pairs",))
dying = partial(die_in_epoch_2, [])
