"""Pictures of data: samples of each binary class, features, and the differences of pairs."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from confdiff.datasets import Comparisons, Dataset
from confdiff.pairs.describe import CENTRES, NEAR_TIE, PairsDescription, describe_pairs
from confdiff.randomness import derived_seed

POSITIVE, NEGATIVE, PLAIN = "#0072B2", "#D55E00", "#555555"  # Okabe and Ito 2008: blue and vermilion


def dataset_figure(data: Dataset, *, seed: int = 0) -> Figure:
    """Samples by class where items are pictures; otherwise what the features tell the binary classes apart by."""
    return _samples(data, seed) if data.picture is not None else _features(data)


def _samples(data: Dataset, seed: int, columns: int = 12) -> Figure:
    """A row of samples for each class, the positive classes on the left and the negative ones on the right."""
    assert data.picture is not None
    negative = [k for k in range(len(data.class_names)) if k not in data.positive]
    height = max(len(data.positive), len(negative))
    figure = Figure(figsize=(9, 0.36 * height + 0.75), layout="constrained")
    sides = figure.subplots(1, 2)
    chance = np.random.default_rng(derived_seed(seed, "samples"))
    for axes, classes, title, colour in (
        (sides[0], data.positive, "positive", POSITIVE),
        (sides[1], negative, "negative", NEGATIVE),
    ):
        rows = [_strip(data, k, columns, chance) for k in classes]
        axes.imshow(np.concatenate(rows), cmap="gray_r")
        each = len(rows[0])
        axes.set_yticks([each * (i + 0.5) for i in range(len(rows))], [data.class_names[k] for k in classes])
        axes.set_xticks([])
        axes.tick_params(length=0, labelsize=9)
        count = int(np.isin(data.classes, classes).sum())
        axes.set_title(f"{title}: {count:,} of {len(data.items):,}", color=colour, fontsize=11)
        axes.spines[:].set_visible(False)
    figure.suptitle(f"{data.name}: {data.partition}", fontsize=12)
    return figure


def _strip(data: Dataset, of_class: int, columns: int, chance: np.random.Generator) -> np.ndarray:
    assert data.picture is not None
    rows = np.flatnonzero(data.classes == of_class)
    chosen = chance.choice(rows, columns, replace=len(rows) < columns)
    return np.concatenate([_framed(data.picture(data.items[row])) for row in chosen], axis=1)


def _framed(picture: np.ndarray) -> np.ndarray:
    """A picture with a little room around it: white, which is 0 for ink on paper and 255 for light."""
    room = max(1, len(picture) // 14)
    sides = ((room, room), (room, room), (0, 0))[: picture.ndim]
    return np.pad(picture, sides, constant_values=0 if picture.ndim == 2 else 255)


def _features(data: Dataset) -> Figure:
    """How many items each class has, and the mean of each feature in both binary classes."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    counts = np.bincount(data.classes, minlength=len(data.class_names))
    colours = [POSITIVE if k in data.positive else NEGATIVE for k in range(len(counts))]
    left.bar(data.class_names, counts, color=colours)
    left.set(title=f"{len(data.items):,} items", ylabel="items of the class")
    right.set(title="features in both classes, standardised", xlabel="feature", ylabel="mean and standard deviation")
    scaled = (data.items - data.items.mean(axis=0, dtype=np.float64)) / data.items.std(axis=0, dtype=np.float64)
    for label, shift, colour, name in ((1, -0.15, POSITIVE, "positive"), (0, 0.15, NEGATIVE, "negative")):
        part = scaled[data.labels == label]
        place = np.arange(part.shape[1]) + shift
        right.errorbar(place, part.mean(axis=0), part.std(axis=0), fmt="o", color=colour, label=name, markersize=4)
    right.axhline(0, color="black", linewidth=0.6, linestyle=":")
    right.legend(frameon=False)
    figure.suptitle(f"{data.name}: {data.partition}", fontsize=12)
    return figure


def pairs_figure(description: PairsDescription, title: str) -> Figure:
    """The histogram of the differences, with what it says of ties and of the prior."""
    figure = Figure(figsize=(6.5, 3.8), layout="constrained")
    axes = figure.subplots()
    _histogram(axes, description)
    known = "" if description.prior is None else f"; share of positives {description.prior:.3f}"
    axes.set_title(
        f"{description.n_pairs:,} pairs of {description.n_items:,} items; {description.near_ties:.0%} near ties "
        f"(|c| < {NEAR_TIE:g}){known}",
        fontsize=8,
    )
    figure.suptitle(title, fontsize=11)
    return figure


def comparisons_figure(data: Comparisons) -> Figure:
    """The histogram of the differences beside the pairs and items of each group."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    _histogram(left, describe_pairs(data.pairs))
    left.set_title(f"{len(data.pairs):,} pairs, each judged by {data.votes.sum(1).min()} to {data.votes.sum(1).max()}")
    assert data.pairs.group is not None
    sizes = np.sort(np.bincount(data.pairs.group.numpy()))[::-1]
    right.bar(range(len(sizes)), sizes, color=PLAIN)
    right.set(title=f"{len(sizes)} groups, {len(data.ids):,} items", xlabel="group, by size", ylabel="judged pairs")
    figure.suptitle(f"{data.name}: graded by people", fontsize=12)
    return figure


def _histogram(axes: Axes, description: PairsDescription) -> None:
    shares = np.array(description.histogram) / description.n_pairs
    axes.bar(CENTRES, shares, width=CENTRES[1] - CENTRES[0], color=PLAIN, edgecolor="white")
    axes.set(xlabel="confidence difference c", ylabel="share of the pairs", xlim=(-1.05, 1.05))
    axes.grid(axis="y", alpha=0.25)
