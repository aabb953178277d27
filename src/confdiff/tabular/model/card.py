"""Write the card of a model: a page about its data and its quality."""

import math
from typing import TYPE_CHECKING

from confdiff import __version__
from confdiff.display.figures import draw_diagonal, new_figure
from confdiff.display.html import as_data_uri, render
from confdiff.display.palette import MEASURED
from confdiff.display.text import plural
from confdiff.tabular.grades import spacing_words
from confdiff.tabular.model.annotator_parameters import ANNOTATOR_MEASURES, MOST_ANNOTATORS, annotator_parameters
from confdiff.tabular.model.explain_figures import importance_figure
from confdiff.tabular.model.wording import (
    learner_words,
    meaning_source,
    offset_sentence,
    prediction_sentence,
    prior_words,
    undecided_sentence,
)
from confdiff.tabular.scales import parse_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from confdiff.tabular.model.about import About
    from confdiff.tabular.model.model import ComparisonModel


def card_html(model: "ComparisonModel") -> str:
    """Return a self-contained page about a model."""
    option = model.about.data.scale_option
    scale = None if option is None else parse_scale(option)
    spacing = model.about.spacing
    annotators = model.annotators_
    return render(
        "confdiff.tabular.model",
        "card.html",
        about=model.about,
        link=model.link,
        meaning_source=meaning_source(model),
        undecided=undecided_sentence(model),
        sentence=prediction_sentence(model),
        learner=learner_words(model),
        prior=prior_words(model),
        offset=offset_sentence(model),
        scale=scale,
        spacing=None if spacing is None else spacing_words(spacing, scale),
        annotators=annotators,
        annotator_parameters=[] if annotators is None else annotator_parameters(annotators),
        annotator_measures=ANNOTATOR_MEASURES,
        most_annotators=MOST_ANNOTATORS,
        plural=plural,
        version=__version__,
        picture=as_data_uri(card_figure(model.about)),
        importance_picture=_importance_picture(model.about),
        digits=_digits,
    )


def _importance_picture(about: "About") -> str | None:
    return None if about.importance is None else as_data_uri(importance_figure(about.importance))


def _digits(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


_OUTPUT = {
    "probability": "probability of the positive class",
    "preference": "score (log-odds of being preferred)",
    "score": "score, in the units of the judgements",
}
"""Link -> what the second picture shows."""


def card_figure(about: "About") -> "Figure":
    """Draw the reliability of the differences of held-out pairs, and a histogram of the outputs of all items."""
    figure, (left, right) = new_figure(8, 3.4, columns=2)
    reach = 1.0
    if about.validation is not None:
        predicted, judged, counts = zip(*about.validation.reliability, strict=True)
        left.scatter(predicted, judged, s=[20 + 180 * count / sum(counts) for count in counts], color=MEASURED)
        reach = max(1.0, *(1.05 * abs(difference) for difference in predicted))  # of scores, it may exceed 1
    draw_diagonal(left, -reach, reach)
    left.set(xlabel="predicted difference", ylabel="mean judged difference", xlim=(-reach, reach), ylim=(-reach, reach))
    left.set_title("held-out pairs", fontsize=10)
    outputs = about.outputs
    width = 0.9 * (outputs.high - outputs.low) / len(outputs.counts)
    right.bar(outputs.centres, outputs.counts, width=width, color=MEASURED)
    right.set(xlabel=_OUTPUT[about.link], ylabel="items", xlim=(outputs.low, outputs.high))
    right.set_title("all items", fontsize=10)
    return figure
