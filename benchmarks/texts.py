"""Compare `confdiff fit` with logistic regression on differences of features, on judgements about texts.

Two data sets, both with no options but the columns:

- humicroedit: pairs of edited headlines with people's grades of how funny they are (SemEval-2020 task 7). The training
  pairs and the test pairs are the official ones; no headline is in both.
- UKPConvArg1: votes on which of two arguments is more convincing, eight folds of four held-out topics. The measure is
  agreement with the publishers' verdicts, which no method sees.

The baseline takes the signs of the differences without ties, and TF-IDF weights of one and two words that occur in at
least two texts (min_df=2), with C=1. With `--text-encoder FOLDER`, both also learn from the vectors of an encoder:
confdiff in addition to the words, the baseline instead of them. Pairwise accuracy; times are processor times of one
thread, the first of which includes the encoding if the vectors are not in the cache. Needs CONFDIFF_DATA.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from confdiff import fit_comparisons, use_threads
from confdiff.metrics import pairwise_accuracy
from confdiff.tabular.features.computing.sentences import SentenceEncoder
from judged_data import N_FOLDS, JudgedTexts, Rows, read_arguments, read_headlines


def by_confdiff(data: JudgedTexts, train: Rows, text_encoder: str | None = None) -> NDArray[np.float64]:
    """Return the scores of all texts, by a model of the training pairs."""
    items = pd.DataFrame({"id": np.arange(len(data.texts)), "text": data.texts})
    pairs = pd.DataFrame({"left": data.left, "right": data.right, "difference": data.difference}).iloc[train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = fit_comparisons(items, pairs, text_encoder=text_encoder)
    return np.asarray(model.decision_function(items), dtype=np.float64)


def by_scikit_learn(data: JudgedTexts, train: Rows) -> NDArray[np.float64]:
    """Return the scores of all texts, by logistic regression on differences of TF-IDF weights."""
    texts = np.array(data.texts, dtype=object)
    compared = np.unique([data.left[train], data.right[train]])
    vectorizer = TfidfVectorizer(min_df=2, ngram_range=(1, 2)).fit(texts[compared])
    return _by_differences(data, train, vectorizer.transform(texts))


def by_vectors(data: JudgedTexts, train: Rows, text_encoder: str) -> NDArray[np.float64]:
    """Return the scores of all texts, by logistic regression on differences of the vectors of an encoder."""
    cells = np.array(data.texts, dtype=object)
    return _by_differences(data, train, SentenceEncoder(text_encoder).vectors(cells, "row {}".format))


def _by_differences(data: JudgedTexts, train: Rows, weights: Any) -> NDArray[np.float64]:
    decided = train[data.difference[train] != 0]
    differences = weights[data.right[decided]] - weights[data.left[decided]]
    model = LogisticRegression(fit_intercept=False, max_iter=1000).fit(differences, np.sign(data.difference[decided]))
    return np.asarray(weights @ model.coef_[0], dtype=np.float64)


WAYS: dict[str, Callable[[JudgedTexts, Rows], NDArray[np.float64]]] = {
    "confdiff": by_confdiff,
    "logistic regression": by_scikit_learn,
}
ENCODED: dict[str, Callable[..., NDArray[np.float64]]] = {
    "confdiff, encoder": by_confdiff,
    "regression, encoder": by_vectors,
}
READERS: dict[str, Callable[[], JudgedTexts]] = {"humicroedit": read_headlines, "ukpconvarg1": read_arguments}


def measure(data: JudgedTexts, way: Callable[..., Any], splits: Sequence[tuple[Rows, Rows]]) -> tuple[float, float]:
    """Return the mean pairwise accuracy and the mean time over splits."""
    accuracies = []
    start = time.process_time()
    for train, test in splits:
        scores = way(data, train)
        accuracies.append(pairwise_accuracy(scores[data.right[test]] - scores[data.left[test]], data.verdict[test]))
    return float(np.mean(accuracies)), (time.process_time() - start) / len(splits)


def main() -> None:
    """Print one line per data set and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=list(READERS), default=list(READERS))
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="run only this many folds of topics")
    parser.add_argument("--text-encoder", metavar="FOLDER", help="a model of sentence-transformers, to be measured too")
    options = parser.parse_args()
    ways = dict(WAYS)
    if options.text_encoder is not None:
        ways |= {name: partial(way, text_encoder=options.text_encoder) for name, way in ENCODED.items()}
    print(f"{'data':14s}{'method':22s}{'pairwise accuracy':>18s}{'seconds per fit':>17s}")
    with use_threads(1):
        for name in options.data:
            report(READERS[name](), ways, options.folds)


def report(data: JudgedTexts, ways: Mapping[str, Callable[..., Any]], n_splits: int) -> None:
    """Print one line per method."""
    for name, way in ways.items():
        accuracy, seconds = measure(data, way, data.splits[:n_splits])
        print(f"{data.name:14s}{name:22s}{accuracy:18.4f}{seconds:17.1f}", flush=True)


if __name__ == "__main__":
    main()
