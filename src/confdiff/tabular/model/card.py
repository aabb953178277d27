"""What a model is and how good it is, as a page."""

from typing import TYPE_CHECKING, Any

from confdiff import __version__
from confdiff.display.html import as_data_uri, render
from confdiff.display.palette import MEASURED, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from confdiff.tabular.model.model import ComparisonModel


def card_html(model: "ComparisonModel") -> str:
    """One page that needs nothing beside it."""
    about, classifier = model.about, model.classifier
    return render(
        "confdiff.tabular.model",
        "card.html",
        data=about["data"],
        options=about["options"],
        validation=about["validation"],
        warnings=about["warnings"],
        decays=about.get("weight decays"),
        decay_by=about.get("weight decay by"),
        settings={"method": classifier.method},
        prior=classifier.prior_,
        network=classifier.model,
        epochs=classifier.n_iter_,
        version=__version__,
        picture=as_data_uri(card_figure(about)),
        number=_number,
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def card_figure(about: dict[str, Any]) -> "Figure":
    """Predicted differences beside those given, where pairs were held out, and the probabilities of the items."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot([-1, 1], [-1, 1], color=NEUTRAL, linewidth=0.8, linestyle=":")
    if about["validation"]:
        said, given, count = zip(*about["validation"]["reliability"], strict=True)
        left.scatter(said, given, s=[20 + 180 * n / sum(count) for n in count], color=MEASURED)
    left.set(xlabel="predicted difference", ylabel="mean of those given", xlim=(-1, 1), ylim=(-1, 1))
    left.set_title("held-out pairs", fontsize=10)
    counts = about["probabilities"]
    right.bar([(k + 0.5) / len(counts) for k in range(len(counts))], counts, width=0.9 / len(counts), color=MEASURED)
    right.set(xlabel="probability of the positive class", ylabel="items", xlim=(0, 1))
    right.set_title("all items", fontsize=10)
    return figure
