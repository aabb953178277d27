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
        The word, a pair of words, or the name of a measure of :data:`~confdiff.tabular.features.text_form.FORM`.
    effect
        The score of a text minus its score without the word and the pairs of words that contain it, or with a measure
        of average value. The mean over some texts, if there are several.
    texts
        Number of the texts in which the word occurs.
    """

    word: str
    effect: float
    texts: int


@dataclass(frozen=True, eq=False)
class _TextFeatures:
    """The features of a text column: the position of the first, their names, and how many of them are words."""

    column: str
    start: int
    names: tuple[str, ...]
    n_words: int

    def of_words(self, X: Any) -> Any:
        """Return the features of words of encoded items."""
        return X[:, self.start : self.start + self.n_words]

    def of_text(self, X: Any) -> Any:
        """Return the features of words and measures of encoded items."""
        return X[:, self.start : self.start + len(self.names)]

    def positions(self) -> list[list[int]]:
        """Return the positions of the features of each name: its own, and those of the pairs that contain it."""
        positions = [[self.start + number] for number in range(len(self.names))]
        number_of = {name: number for number, name in enumerate(self.names[: self.n_words])}
        for number, name in enumerate(self.names[: self.n_words]):
            words = name.split(" ")
            for word in set(words) if len(words) > 1 else ():
                if word in number_of:
                    positions[number_of[word]].append(self.start + number)
        return positions


def _text_features(features: ItemFeatures) -> Iterator[_TextFeatures]:
    start = 0
    for encoder in features.encoders_:
        if isinstance(encoder, Text):
            prefix = f"{encoder.columns[0]}: "
            yield _TextFeatures(
                column=encoder.columns[0],
                start=start,
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
        positions = text.positions()
        texts = np.asarray((text.of_words(X) != 0).sum(axis=0)).reshape(-1)
        frequent = np.argsort(-texts, kind="stable")[:_CANDIDATES]
        effects = [
            WordEffect(
                word=text.names[number],
                effect=_mean_effect(estimator, X, positions[number]),
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
    strongest = {}
    for text in _text_features(features):
        positions = text.positions()
        present = np.flatnonzero(as_dense(text.of_text(x))[0])
        without = [_without(x, positions[number]) for number in present]
        scores = _scores(estimator, _stacked([x, *without]))
        effects = [
            WordEffect(word=text.names[number], effect=float(scores[0] - score), texts=1)
            for number, score in zip(present, scores[1:], strict=True)
        ]
        strongest[text.column] = _strongest(effects, most)
    return strongest


def _scores(estimator: Any, X: Any) -> NDArray[np.float64]:
    return np.asarray(estimator.decision_function(X), dtype=np.float64)


def _mean_effect(estimator: Any, X: Any, positions: list[int]) -> float:
    """Return the mean change of the score by a word, whose own feature is the first, over the first items with it."""
    rows = np.flatnonzero(as_dense(X[:, positions[:1]])[:, 0])[:_TEXTS]
    items = X[rows]
    return float((_scores(estimator, items) - _scores(estimator, _without(items, positions))).mean())


def _without(items: Any, positions: list[int]) -> Any:
    """Return items in which some features are 0; sparse if the items are."""
    changed = items.copy()
    if isinstance(changed, np.ndarray):
        changed[:, positions] = 0
        return changed
    changed.data[np.isin(changed.indices, positions)] = 0
    changed.eliminate_zeros()
    return changed


def _stacked(matrices: list[Any]) -> Any:
    """Return the rows of matrices below each other; sparse if they are."""
    if isinstance(matrices[0], np.ndarray):
        return np.concatenate(matrices)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(matrices, format="csr"))


def _strongest(effects: list[WordEffect], most: int) -> list[WordEffect]:
    return sorted(effects, key=lambda effect: -abs(effect.effect) * effect.texts)[:most]
