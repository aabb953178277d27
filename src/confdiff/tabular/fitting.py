"""Fit a model to items and judged pairs: encode, split, train, validate and describe."""

import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.config import Config, optional_config
from confdiff.display.progress import reporting_activity
from confdiff.estimators.contributions import draw_background
from confdiff.estimators.items import DifferenceScored
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.io.table_formats.parquet import PARQUET
from confdiff.links import class_probability
from confdiff.pairs import Pairs
from confdiff.tabular.fit_options import FitOptions, changed_options
from confdiff.tabular.grades import spaced_sets
from confdiff.tabular.learning import fit_estimator
from confdiff.tabular.model.about import About, DataSummary, Histogram, Validation
from confdiff.tabular.model.agreement import AnswerAgreement, agreement, answer_agreement, difference_reliability
from confdiff.tabular.model.importance import Importance, item_matrix, measure_importance
from confdiff.tabular.model.model import ComparisonModel, link_name
from confdiff.tabular.scales import Scale, parse_scale
from confdiff.tabular.streaming import streamed_data
from confdiff.tabular.training_data import PairSets, TrainingData, in_memory_data
from confdiff.threads import follow_policy
from confdiff.validation import warn_user

_Folder = str | os.PathLike[str]
_BINS = 20  # of the histogram of probabilities or scores


@follow_policy
@takes_encoding
def fit_comparisons(
    items: Any,
    pairs: Any,
    options: FitOptions | None = None,
    *,
    id: str | None = None,
    left: str | None = None,
    right: str | None = None,
    difference: str | None = None,
    same: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    winner: str | None = None,
    tie: str | None = None,
    annotator: str | None = None,
    shown_first: str | None = None,
    scale: Scale | str | tuple[float, float] | None = None,
    ignore: str | Iterable[str] = (),
    labels: str | None = None,
    encoders: Mapping[str, Any] | None = None,
    encoding: str | None = None,
    config: _Folder | None = None,
    stream: bool = False,
    work: _Folder | None = None,
    checkpoint: _Folder | None = None,
    verbose: int = 0,
    **changes: Any,
) -> ComparisonModel:
    """Learn to score items from judged pairs, as ``confdiff fit`` does.

    Parameters
    ----------
    items, pairs : path or data frame
        The items, and the pairs with a judged difference, a same-class answer, or both.
    options : FitOptions, optional
        How to fit.
    id : str, optional
        The column of ids of the items, or the name of the index of a data frame (``"index"`` if it has none). By
        default the column that holds the ids of the pairs.
    left, right, difference, same, weight, group, winner, tie, annotator, shown_first : str, optional
        Columns of the pairs; recognised by their names if not given, and those of the ids also by their values. With
        annotators, their scales and noise are estimated, and with ``shown_first`` their side biases; see
        ``annotator_model`` of :class:`~confdiff.FitOptions`.
    scale : tuple (low, high) or str, optional
        The ends of the scale of the judgements, such as ``(1, 7)``, or ``"saaty"`` for ratios from 1/9 to 9, or its
        words in their order, such as ``"worse,same,better"``; recognised if not given. High judgements favour the
        second item, or the first with ``"1,7,reversed"``.
    ignore : str or iterable of str
        Columns of the items to leave out.
    labels : str, optional
        A column that is 0/1 or -1/1 for a few items and empty for all others; it determines the prior.
    encoders : mapping, optional
        Column of the items with paths of files, such as pictures -> a function or a module of torch that maps a path
        to a vector, or a :class:`~confdiff.FileEncoder`. The model holds its name and fingerprint only: pass it to
        :func:`~confdiff.load_model` again.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.
    config : path, optional
        A ``confdiff.toml`` with columns and options, see :class:`confdiff.config.Config`; arguments win over it.
        Unlike commands, this function reads no such file that is not passed.
    stream : bool
        Read items and pairs in parts. ``pairs`` is then a Parquet file, or a folder of such files.
    work : path, optional
        A folder for encoded data while streaming, which are removed at the end; by default the system's.
    checkpoint : path, optional
        A file to write while training, and to resume from.
    verbose : int
        1 shows progress bars.
    **changes
        Changes of the options, such as ``prior=0.3``.

    Returns
    -------
    ComparisonModel
        The fitted model, with metrics on held-out pairs in ``validation``. If learners were compared, the metrics are
        those of the chosen one without the test set, and the model is the same learner fitted to all pairs.

    Raises
    ------
    ValueError
        A table cannot be used; the message names the first problem.
    """
    settings = optional_config(config)
    options = changed_options(options, changes)
    labels, ignored = _labels_to_use(labels, options, settings)
    options = _configured(options, settings, has_labels=labels is not None)
    _check_labels_are_used(labels, options)
    given = settings.fill(id=id, ignore=(ignore,) if isinstance(ignore, str) else tuple(ignore), scale=scale)
    tables: dict[str, Any] = {
        "id": given["id"],
        "ignore": (*given["ignore"], *ignored),
        "scale": None if given["scale"] is None else parse_scale(given["scale"]),
        "encoders": encoders,
        "columns": settings.fill(
            left=left,
            right=right,
            difference=difference,
            same=same,
            weight=weight,
            group=group,
            winner=winner,
            tie=tie,
            annotator=annotator,
            shown_first=shown_first,
        ),
    }
    if work is not None and not stream:
        raise ValueError(
            f"work={os.fspath(work)!r} would not be used: it is for streams. Pass stream=True, or omit it."
        )
    with _collected_warnings() as caught:
        if stream:
            in_memory = {"labels": labels, "group": tables["columns"]["group"]}
            _check_streamable(pairs, options, in_memory)
        with ExitStack() as stack:
            with reporting_activity("reading the tables", shown=bool(verbose)):
                if stream:
                    folder = Path(tempfile.gettempdir() if work is None else work)
                    data: TrainingData = stack.enter_context(
                        streamed_data(Path(items), Path(pairs), options, work=folder, **tables)
                    )
                else:
                    data = in_memory_data(items, pairs, options, labels=labels, **tables)
            if shown_first is not None and data.summary().annotators is None:
                raise ValueError(
                    f"shown_first={shown_first!r} would not be used: side biases are those of annotators. Name the "
                    "column of annotators with annotator='...', or omit it."
                )
            model = _fit(data, options, checkpoint, verbose)
    messages = tuple(str(warning.message) for warning in caught if warning.category is UserWarning)
    model.about = replace(model.about, warnings=messages)
    for warning in caught:
        warn_user(str(warning.message), warning.category)
    return model


def _labels_to_use(labels: str | None, options: FitOptions, settings: Config) -> tuple[str | None, tuple[str, ...]]:
    """Return the column of labels, and columns of the items that are not features although they have another role.

    A prior that is given as a number wins over the labels of a file, which are not features either.
    """
    if labels is not None or settings.labels is None:
        return labels, ()
    return (settings.labels, ()) if isinstance(options.prior, str | None) else (None, (settings.labels,))


def _configured(options: FitOptions, settings: Config, *, has_labels: bool) -> FitOptions:
    """Return the options with the prior, the meaning and the kinds of columns of a file, where none are given."""
    if options.prior is None and settings.prior is not None and (settings.labels is not None or not has_labels):
        options = replace(options, prior=settings.prior)
    if options.link == "auto" and settings.link is not None and options.method is None:
        options = replace(options, link=settings.link)
    if options.differences == "graded" and settings.differences is not None:
        options = replace(options, differences=settings.differences, positives=options.positives or settings.positives)
    if settings.kinds:
        options = replace(options, kinds={**settings.kinds, **(options.kinds or {})})
    return options


def _check_labels_are_used(labels: str | None, options: FitOptions) -> None:
    if labels is not None and not isinstance(options.prior, str | None):
        raise ValueError(
            f"labels={labels!r} would not be used: labels determine the prior, and prior={options.prior} gives it. "
            "Pass only one of them."
        )


@contextmanager
def _collected_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings of a block, each once."""
    unique: list[warnings.WarningMessage] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield unique
    texts = set()
    for warning in caught:
        text = (warning.category, str(warning.message))
        if text not in texts:
            unique.append(warning)
        texts.add(text)


def _check_streamable(pairs: Any, options: FitOptions, columns: Mapping[str, str | None]) -> None:
    """Check that the pairs can be streamed, and that no option is given which streams do not use."""
    if not isinstance(pairs, str | os.PathLike):
        raise ValueError(f"stream=True reads pairs from Parquet files; got {type(pairs).__name__}. Omit stream=True.")
    path = Path(pairs)
    if not path.is_dir() and path.suffix.lower() != PARQUET.ending:
        raise ValueError(f"stream=True reads pairs from a Parquet file or a folder of them; got {path}.")
    in_memory = {f"{role}={column!r}": column is not None for role, column in columns.items()} | {
        "hold_out_groups=True": options.hold_out_groups,
        "with_id=True": options.with_id,
        f"spacing={options.spacing!r}": options.spacing != "equal",
        f"model={options.model!r}": options.model in ("auto", "boosting"),
    }
    for argument, used in in_memory.items():
        if used:
            raise ValueError(f"{argument} needs all pairs in memory, and these are streamed: omit it, or use a sample.")


def _fit(data: TrainingData, options: FitOptions, checkpoint: _Folder | None, verbose: int) -> ComparisonModel:
    """Split, train and validate."""
    summary = data.summary()
    _check_annotators(summary, options)
    sets, spacing = spaced_sets(data.split(options), options)
    _warn_of_many_features(summary, options)
    _check_weights(sets)
    learned = fit_estimator(
        sets, options, labelled=data.labelled, answers=data.answers, checkpoint=checkpoint, verbose=verbose
    )
    classifier = learned.final
    about = About(
        data=summary,
        options=options,
        validation=_validation(learned.tested, sets),
        outputs=_outputs(classifier, data, summary.unit),
        link=link_name(classifier),
        selection=learned.selection,
        spacing=spacing,
        importance=_importance(learned.tested, data, sets, options),
        answers=_answers(learned.tested, sets),
    )
    background = _background(classifier, data, sets, options)
    return ComparisonModel(features=data.features, classifier=classifier, about=about, background=background)


def _check_annotators(data: DataSummary, options: FitOptions) -> None:
    """Check that a model of annotators has annotators."""
    model = f"annotator_model={options.annotator_model!r}"
    if options.annotator_model not in ("scale", "full") or (data.annotators or 0) > 1:
        return
    if data.annotators == 1:
        raise ValueError(f"{model} needs at least two annotators; got one. Omit it.")
    raise ValueError(f"{model} needs the annotators of the pairs: name their column with annotator='...', or omit it.")


def _check_weights(sets: PairSets) -> None:
    """Check that each held-out set has a pair that counts."""
    for name, pairs in (("validation", sets.validation), ("test", sets.test)):
        if pairs is not None and pairs.weight is not None and not bool(pairs.weight.any()):
            raise ValueError(
                f"all {len(pairs)} pairs of the {name} set have a weight of 0: give more pairs a weight above 0, or "
                "pass validation_fraction=0 to hold out none."
            )


def _warn_of_many_features(data: DataSummary, options: FitOptions) -> None:
    """Warn of overfitting: on texts of arguments, a network was worse than a linear model."""
    if data.features > data.compared_items and not (options.is_compared or options.model == "linear"):
        warn_user(
            f"{data.features:,} features and only {data.compared_items:,} compared items: a network may overfit. "
            "Try model='linear', or omit all options of networks to compare it with others."
        )


def _validation(classifier: DifferenceScored, sets: PairSets) -> Validation | None:
    """Return metrics on the test set."""
    if sets.test is None or sets.test.difference is None:
        return None
    predicted = classifier.predict_difference(sets.test)
    (c,) = sets.test.targets("differences").numpy()
    new = sets.both_new
    has_figures = new is not None and 0 < np.count_nonzero(new) < len(new)
    return Validation(
        training_pairs=len(sets.train),
        validation_pairs=0 if sets.validation is None else len(sets.validation),
        test=agreement(predicted, c),
        new_items=agreement(predicted[new], c[new]) if has_figures else None,
        reliability=difference_reliability(predicted, c),
    )


def _answers(classifier: DifferenceScored, sets: PairSets) -> AnswerAgreement | None:
    """Return metrics on the same-class answers of a test set without differences."""
    if sets.test is None or sets.test.difference is not None or sets.test.same is None:
        return None
    p = class_probability(classifier.decision_function(item_matrix(sets.test)))
    first = p[sets.test.left.numpy()]
    second = p[sets.test.right.numpy()]
    return answer_agreement(first * second + (1 - first) * (1 - second), sets.test.same.double().numpy())


def _importance(
    classifier: DifferenceScored, data: TrainingData, sets: PairSets, options: FitOptions
) -> Importance | None:
    """Return the importance of the columns on the test set."""
    if sets.test is None or sets.test.difference is None:
        return None
    return measure_importance(classifier, data.features, sets.test, seed=options.seed)


def _background(classifier: DifferenceScored, data: TrainingData, sets: PairSets, options: FitOptions) -> Any:
    """Return the background items for explanations, drawn from the training set, or from the start of a stream."""
    items = item_matrix(sets.train.compact()) if isinstance(sets.train, Pairs) else next(iter(data.item_batches()))
    return draw_background(classifier, items, data.features.feature_groups(), seed=options.seed)


def _outputs(classifier: DifferenceScored, data: TrainingData, unit: float) -> Histogram:
    """Count the items by their probability or score."""
    scores = np.concatenate([classifier.decision_function(items) for items in data.item_batches()])
    link = link_name(classifier)
    if link == "probability":
        return _histogram(class_probability(scores), 0.0, 1.0)
    values = scores * unit if link == "score" else scores
    low = float(values.min())
    high = float(values.max())
    return _histogram(values, low, high if high > low else low + 1)


def _histogram(values: NDArray[Any], low: float, high: float) -> Histogram:
    counts = np.histogram(values, _BINS, (low, high))[0]
    return Histogram(low=low, high=high, counts=tuple(counts.tolist()))
