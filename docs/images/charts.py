"""Draw the pictures of docs/beyond-the-paper.md and docs/recommenders.md.

Run ``python docs/images/charts.py`` from any folder. ``beyond.png`` is drawn from ``results/``; ``recommenders.png``
from the numbers in the tables of docs/recommenders.md.
"""

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean

from matplotlib.figure import Figure

HERE = Path(__file__).parent
RESULTS = HERE.parent.parent / "results"
DATASETS = {"optdigits": "Optdigits", "usps": "USPS", "pendigits": "Pendigits", "letter": "Letter"}
PRIORS = (0.2, 0.5, 0.8)
METHODS = {
    "confdiff-abs": ("ConfDiff-ABS (paper)", "#0072b2", "o"),
    "confdiff-regression": ("difference regression (ours)", "#882255", "s"),
    "oracle-soft": ("Oracle-Soft, sees every posterior", "#444444", "_"),
}
EPOCHS = (1, 2, 3, 5, 8, 12, 20, 30)
NDCG = {
    "ConfDiff-ABS": ((0.488, 0.458, 0.435, 0.386, 0.361, 0.347, 0.338, 0.324), "#0072b2"),
    "BPR": ((0.492, 0.453, 0.431, 0.412, 0.401, 0.399, 0.396, 0.399), "#d55e00"),
}
ITEM_MEANS = 0.406


def cell_means() -> dict[tuple[str, str, float], float]:
    """Return the mean accuracy of each (method, data set, prior) of Table 2."""
    accuracies = defaultdict(list)
    for dataset in DATASETS:
        for line in (RESULTS / f"{dataset}.jsonl").read_text().splitlines():
            record = json.loads(line)
            if is_of_table_2(record):
                accuracies[record["method"], dataset, record["prior"]].append(record["accuracy"])
    return {cell: mean(values) for cell, values in accuracies.items()}


def is_of_table_2(record: dict[str, object]) -> bool:
    """Return whether a trial has the settings of Table 2 and nothing else."""
    options = {"noise", "fraction", "prior_factor", "prior_is_told", "partners", "folds", "calibrated", "adjusted"}
    standard = record["protocol"] == "authors" and record["epochs"] == 200 and record["method"] in METHODS
    return standard and not options & record.keys()


def draw_beyond() -> None:
    """Draw the accuracy of three methods in the twelve cells of Table 2."""
    means = cell_means()
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    panels = figure.subplots(1, len(DATASETS))
    for axes, (dataset, title) in zip(panels, DATASETS.items(), strict=True):
        for method, (label, color, marker) in METHODS.items():
            values = [means[method, dataset, prior] for prior in PRIORS]
            size = 16 if marker == "_" else 7
            axes.plot(PRIORS, values, marker, color=color, markersize=size, markeredgewidth=2, label=label)
        axes.set(title=title, xlabel="class prior", xticks=PRIORS, xlim=(0.05, 0.95))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("test accuracy, mean of 5 trials")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(METHODS), frameon=False)
    figure.savefig(HERE / "beyond.png", dpi=120)


def draw_recommenders() -> None:
    """Draw how NDCG@10 falls with the epochs."""
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    for name, (values, color) in NDCG.items():
        axes.plot(EPOCHS, values, "o-", color=color, label=name)
    axes.axhline(ITEM_MEANS, color="#777777", linestyle="--", label="item means, the same for all users")
    axes.set(xscale="log", xlabel="epochs of training (log scale)", ylabel="NDCG@10 among 50 candidates")
    axes.set_xticks(EPOCHS, [str(epoch) for epoch in EPOCHS])
    axes.minorticks_off()
    axes.set_title("KuaiRec subset, seed 0: long training overfits")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(HERE / "recommenders.png", dpi=120)


if __name__ == "__main__":
    draw_beyond()
    draw_recommenders()
