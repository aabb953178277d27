"""Figures of data: samples of each binary class, means of features, and differences of pairs."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from confdiff.datasets import ComparisonDataset, Dataset
from confdiff.display.figures import draw_histogram, new_figure
from confdiff.display.palette import NEGATIVE, NEUTRAL, POSITIVE
from confdiff.pairs.describe import CENTRES, NEAR_TIE, PairsDescription, describe_pairs
from confdiff.randomness import derived_seed


def dataset_figure(data: Dataset, *, seed: int = 0) -> Figure:
    """Draw a data set: samples of its classes if items are images, else class sizes and means of features.

    Parameters
    ----------
    data : Dataset
        The data set.
    seed : int, default=0
        Seed of the choice of samples.

    Returns
    -------
    matplotlib.figure.Figure
    """
    return _samples_figure(data, seed) if data.picture is not None else _features_figure(data)


def _samples_figure(data: Dataset, seed: int) -> Figure:
    """Draw a row of samples per class, positive classes on the left and negative ones on the right."""
    negative = [k for k in range(len(data.class_names)) if k not in data.positive]
    height = max(len(data.positive), len(negative))
    figure, (left, right) = new_figure(9, 0.36 * height + 0.75, columns=2)
    rng = np.random.default_rng(derived_seed(seed, "samples"))
    _draw_samples(left, data, data.positive, rng)
    _draw_samples(right, data, negative, rng)
    _set_sample_title(left, data, data.positive, "positive", POSITIVE)
    _set_sample_title(right, data, negative, "negative", NEGATIVE)
    figure.suptitle(f"{data.name}: {data.partition}", fontsize=12)
    return figure


def _draw_samples(axes: Axes, data: Dataset, classes: Sequence[int], rng: np.random.Generator) -> None:
    strips = [_strip(data, k, rng) for k in classes]
    height = len(strips[0])
    centres = [height * (i + 0.5) for i in range(len(strips))]
    axes.imshow(np.concatenate(strips), cmap="gray_r")
    axes.set_yticks(centres, [data.class_names[k] for k in classes])
    axes.set_xticks([])
    axes.tick_params(length=0, labelsize=9)
    axes.spines[:].set_visible(False)


def _set_sample_title(axes: Axes, data: Dataset, classes: Sequence[int], name: str, colour: str) -> None:
    count = int(np.isin(data.classes, classes).sum())
    axes.set_title(f"{name}: {count:,} of {len(data.items):,}", color=colour, fontsize=11)


def _strip(data: Dataset, of_class: int, rng: np.random.Generator, columns: int = 12) -> np.ndarray:
    """Return random images of one class side by side."""
    assert data.picture is not None
    rows = np.flatnonzero(data.classes == of_class)
    chosen = rng.choice(rows, columns, replace=len(rows) < columns)
    return np.concatenate([_framed(data.picture(data.items[row])) for row in chosen], axis=1)


def _framed(image: np.ndarray) -> np.ndarray:
    """Return an image with a white margin: white is 0 for grey images (ink on paper) and 255 for colour images."""
    margin = max(1, len(image) // 14)
    widths = ((margin, margin), (margin, margin), (0, 0))[: image.ndim]
    return np.pad(image, widths, constant_values=0 if image.ndim == 2 else 255)


def _features_figure(data: Dataset) -> Figure:
    """Draw the number of items per class, and mean and deviation of each feature in the two binary classes."""
    figure, (left, right) = new_figure(9, 4, columns=2, width_ratios=(1, 1.2))
    counts = np.bincount(data.classes, minlength=len(data.class_names))
    colours = [POSITIVE if k in data.positive else NEGATIVE for k in range(len(counts))]
    left.bar(data.class_names, counts, color=colours)
    left.set(title=f"{len(data.items):,} items", ylabel="items per class")
    _draw_features(right, data)
    figure.suptitle(f"{data.name}: {data.partition}", fontsize=12)
    return figure


def _draw_features(axes: Axes, data: Dataset) -> None:
    scaled = (data.items - data.items.mean(axis=0, dtype=np.float64)) / data.items.std(axis=0, dtype=np.float64)
    for label, shift, colour, name in ((1, -0.15, POSITIVE, "positive"), (0, 0.15, NEGATIVE, "negative")):
        items = scaled[data.labels == label]
        x = np.arange(items.shape[1]) + shift
        axes.errorbar(x, items.mean(axis=0), items.std(axis=0), fmt="o", color=colour, label=name, markersize=4)
    axes.axhline(0, color="black", linewidth=0.6, linestyle=":")
    axes.set(title="standardised features by class", xlabel="feature", ylabel="mean and standard deviation")
    axes.legend(frameon=False)


def pairs_figure(description: PairsDescription, title: str) -> Figure:
    """Draw the histogram of the differences, with the fractions of near ties and of positives in its title.

    Parameters
    ----------
    description : PairsDescription
        What :func:`~confdiff.pairs.describe.describe_pairs` returned.
    title : str
        Title of the figure.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = new_figure(6.5, 3.8)
    _draw_differences(axes, description)
    prior = "" if description.prior is None else f"; fraction of positives {description.prior:.3f}"
    axes.set_title(
        f"{description.n_pairs:,} pairs of {description.n_items:,} items; {description.near_ties:.0%} near ties "
        f"(|c| < {NEAR_TIE:g}){prior}",
        fontsize=8,
    )
    figure.suptitle(title, fontsize=11)
    return figure


def comparisons_figure(data: ComparisonDataset) -> Figure:
    """Draw the histogram of the differences, and the number of pairs per group, annotator or item."""
    figure, (left, right) = new_figure(9, 4.2, columns=2, width_ratios=(1.2, 1))
    _draw_differences(left, describe_pairs(data.with_items(np.zeros((len(data.ids), 1), dtype=np.float32))))
    votes = "" if data.votes is None else f", with {data.votes.sum(1).min()} to {data.votes.sum(1).max()} votes each"
    left.set_title(f"{len(data):,} pairs{votes}")
    unit, codes = _units(data)
    sizes = np.sort(np.bincount(codes))[::-1]
    right.bar(range(len(sizes)), sizes, color=NEUTRAL)
    title = f"{len(data.ids):,} items" if unit == "item" else f"{len(sizes)} {unit}s, {len(data.ids):,} items"
    right.set(title=title, xlabel=f"{unit}, by size", ylabel="judged pairs")
    figure.suptitle(f"{data.name}: graded by people", fontsize=12)
    return figure


def _units(data: ComparisonDataset) -> tuple[str, NDArray[np.int64]]:
    """Return what pairs are counted by, and its codes."""
    if data.group is not None:
        return "group", data.group
    if data.annotator is not None:
        return "annotator", data.annotator
    return "item", np.concatenate([data.left, data.right])


def _draw_differences(axes: Axes, description: PairsDescription) -> None:
    draw_histogram(axes, CENTRES, np.array(description.histogram) / description.n_pairs)
    axes.set(xlabel="confidence difference c", ylabel="fraction of the pairs", xlim=(-1.05, 1.05))
