"""Measure the effect of single words: the change of the score where a word is left out of a text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.contributions import as_dense
from confdiff.tabular.features.encoders import Text
from confdiff.tabular.features.item_features import ItemFeatures

_CANDIDATES = 200  # words per column whose effect is measured: those that occur in most texts
_TEXTS = 10  # texts in which the effect of a word is measured
_MIN_TEXTS = 3  # in which a word must occur


@dataclass(frozen=True)
class WordEffect:
    """The effect of a word of a text column, or of a measure of the text such as its length.

    Attributes
    ----------
    word
        The word, or the name of a measure of :data:`~confdiff.tabular.features.text_form.FORM`.
    effect
        The score of a text minus its score without the word, or with a measure of average value. The mean over some
        texts, if there are several.
    texts
        Number of the texts in which the word occurs.
    """

    word: str
    effect: float
    texts: int


@dataclass(frozen=True, eq=False)
class _TextFeatures:
    """The features of a text column: their positions, their names, and how many of them are words."""

    column: str
    positions: NDArray[np.int64]
    names: tuple[str, ...]
    n_words: int


def _text_features(features: ItemFeatures) -> Iterator[_TextFeatures]:
    start = 0
    for encoder in features.encoders_:
        if isinstance(encoder, Text):
            prefix = f"{encoder.columns[0]}: "
            yield _TextFeatures(
                column=encoder.columns[0],
                positions=np.arange(start, start + encoder.width),
                names=tuple(name.removeprefix(prefix) for name in encoder.names()),
                n_words=len(encoder.words),
            )
        start += encoder.width


def mean_word_effects(estimator: Any, features: ItemFeatures, X: Any, most: int = 10) -> dict[str, list[WordEffect]]:
    """Measure the effects of frequent words, and return the strongest of each text column.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator with ``decision_function``.
    features : ItemFeatures
        The fitted encoding of the items.
    X : array or sparse matrix of shape (N, d)
        Encoded items.
    most : int
        Number of words per column to return: those with the largest absolute effect, summed over the texts.
    """
    strongest = {}
    for text in _text_features(features):
        words = text.positions[: text.n_words]
        texts = np.asarray((X[:, words] != 0).sum(axis=0)).reshape(-1)
        frequent = np.argsort(-texts, kind="stable")[:_CANDIDATES]
        effects = [
            WordEffect(
                word=text.names[number],
                effect=_mean_effect(estimator, X, words[number]),
                texts=int(texts[number]),
            )
            for number in frequent[texts[frequent] >= _MIN_TEXTS]
        ]
        strongest[text.column] = _strongest(effects, most)
    return strongest


def word_effects(estimator: Any, features: ItemFeatures, x: Any, most: int = 5) -> dict[str, list[WordEffect]]:
    """Measure the effects of all words and measures of one item, and return the strongest of each text column.

    Parameters
    ----------
    estimator, features, most
        As in :func:`mean_word_effects`.
    x : array or sparse matrix of shape (1, d)
        An encoded item.
    """
    row = as_dense(x)
    strongest = {}
    for text in _text_features(features):
        present = np.flatnonzero(row[0, text.positions])
        without = np.repeat(row, 1 + len(present), axis=0)
        without[1 + np.arange(len(present)), text.positions[present]] = 0
        scores = np.asarray(estimator.decision_function(without), dtype=np.float64)
        effects = [
            WordEffect(word=text.names[number], effect=float(scores[0] - score), texts=1)
            for number, score in zip(present, scores[1:], strict=True)
        ]
        strongest[text.column] = _strongest(effects, most)
    return strongest


def _mean_effect(estimator: Any, X: Any, position: np.int64) -> float:
    """Return the mean change of the score by one feature, over the first items that have it."""
    rows = np.flatnonzero(as_dense(X[:, [position]])[:, 0])[:_TEXTS]
    items = as_dense(X[rows])
    without = items.copy()
    without[:, position] = 0
    scores = np.asarray(estimator.decision_function(np.concatenate([items, without])), dtype=np.float64)
    return float((scores[: len(rows)] - scores[len(rows) :]).mean())


def _strongest(effects: list[WordEffect], most: int) -> list[WordEffect]:
    return sorted(effects, key=lambda effect: -abs(effect.effect) * effect.texts)[:most]
