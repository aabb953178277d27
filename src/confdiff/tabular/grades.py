"""Learn the values of the grades of a fit from its training set, and apply them to all of its pairs."""

from dataclasses import replace

from confdiff.display.text import listed
from confdiff.estimators.grades import space_grades, with_end_targets, with_values
from confdiff.pairs import Pairs
from confdiff.spacing import Spacing
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.scales import Scale
from confdiff.tabular.training_data import PairSets


def spaced_sets(sets: PairSets, options: FitOptions) -> tuple[PairSets, Spacing | None]:
    """Return the pairs of a fit with the values of their grades, and these values.

    Parameters
    ----------
    sets
        The pairs. The values are learned from the training set only.
    options
        The options of the fit. With the score link an end of the scale means "at least this much": the targets of the
        fit may then exceed it. Held-out pairs keep the value of the end.

    Returns
    -------
    sets
        The pairs, unchanged if the values are equally spaced.
    spacing
        The values; None if they were not to be learned, and for streams, whose grades are equally spaced.
    """
    if options.spacing == "equal" or not isinstance(sets.train, Pairs):
        return sets, None
    if options.spacing == "auto" and not sets.train.has("differences"):
        return sets, None
    at_least = options.link == "score"
    train, spacing = space_grades(sets.train, spacing=options.spacing, at_least=at_least, random_state=options.seed)
    if spacing.name == "equal":
        return sets, spacing
    every = sets.every
    if every is not None:
        every = with_end_targets(every, spacing, seed=options.seed) if at_least else with_values(every, spacing)
    return replace(
        sets,
        train=train,
        validation=None if sets.validation is None else with_values(sets.validation, spacing),
        test=None if sets.test is None else with_values(sets.test, spacing),
        every=every,
    ), spacing


def spacing_words(spacing: Spacing, scale: Scale | None) -> str:
    """Return the values of grades in words, in the judgements of the scale that favour the second item.

    >>> spacing_words(Spacing("learned", (0.5, 1.0), (0.3, 1.0)), Scale(-2, 2, "a 5-point scale from -2 to 2"))
    'learned: c = 0.300 for 1 (equal spacing 0.5) and 1.000 for 2 (equal spacing 1)'
    """
    agreement = ""
    if spacing.agreement:
        taus = " and ".join(f"{tau:.3f} ({name})" for name, tau in spacing.agreement.items())
        agreement = f"; Kendall's tau of held-out answers {taus}"
    if spacing.name == "equal":
        return f"equal{agreement}"
    texts = []
    for level, value in zip(spacing.levels, spacing.values, strict=True):
        label = f"{level:.3g}" if scale is None else scale.label_of(level)
        texts.append(f"{value:.3f} for {label} (equal spacing {level:.3g})")
    return f"learned: c = {listed(texts)}{agreement}"
