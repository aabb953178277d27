"""The words and pairs of words of texts, and their TF-IDF weights as a sparse matrix.

Punctuation marks and single letters are words, too: "I think" and "!!" show how formal a text is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_WORDS = 50_000
"""Default maximum number of words and pairs of words of a text column."""
_MIN_TEXTS = 2  # in which a word must occur
_LONGEST = 2  # words of a term
TOKENS = {
    "long words": r"(?u)\b\w\w+\b",  # the default of scikit-learn, without "I" and "a"
    "words and marks": r"(?u)\w+|[^\w\s]",
}
"""What counts as a word -> its regular expression. Saved models that do not name theirs have the first."""
NEW_TOKENS = "words and marks"


@dataclass(frozen=True)
class Vocabulary:
    """Words and pairs of consecutive words with their weights.

    Attributes
    ----------
    words : tuple of str
        The terms; a pair has a blank between its words.
    idf : tuple of float
        The inverse document frequency of each.
    tokens : str
        What counts as a word: a name of :data:`TOKENS`.
    """

    words: tuple[str, ...]
    idf: tuple[float, ...]
    tokens: str = NEW_TOKENS

    def weights(self, texts: Iterable[str]) -> Any:
        """Return the L2-normalised TF-IDF weights of texts, with 1 + log(count) as term frequency.

        Parameters
        ----------
        texts : iterable of str
            N texts.

        Returns
        -------
        scipy.sparse.csr_array of shape (N, number of words)
            32-bit floats.

        Examples
        --------
        >>> Vocabulary(("cat", "the cat"), (1.0, 1.0)).weights(["The cat", "a dog"]).toarray().round(2)
        array([[0.71, 0.71],
               [0.  , 0.  ]], dtype=float32)
        """
        from scipy.sparse import csr_array
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(
            vocabulary=list(self.words),
            ngram_range=(1, max(word.count(" ") + 1 for word in self.words)),
            token_pattern=TOKENS[self.tokens],
            sublinear_tf=True,
            dtype=np.float32,
        )
        vectorizer.idf_ = np.array(self.idf, dtype=np.float32)
        return csr_array(vectorizer.transform(texts))


def learn_vocabulary(texts: NDArray[Any], max_words: int) -> Vocabulary:
    """Return the words and pairs of words that occur in at least two texts.

    Single words come first: pairs of words use what the maximum leaves. Within both, the most frequent are used.

    Parameters
    ----------
    texts : array of str
        The texts to learn from.
    max_words : int
        The maximum number of words and pairs of words.

    Raises
    ------
    ValueError
        No word occurs in two texts.

    Examples
    --------
    >>> learn_vocabulary(np.array(["the cat sat", "the cat ran", "cat"]), 2).words
    ('cat', 'the')
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(
        min_df=_MIN_TEXTS, ngram_range=(1, _LONGEST), token_pattern=TOKENS[NEW_TOKENS], dtype=np.int32
    )
    counts = vectorizer.fit_transform(texts)
    words = vectorizer.get_feature_names_out()
    is_pair = np.array([" " in word for word in words])
    order = np.lexsort((words, -np.asarray(counts.sum(axis=0)).reshape(-1), is_pair))
    chosen = np.sort(order[:max_words])
    n_texts = np.bincount(counts.indices, minlength=len(words))[chosen]
    idf = np.log((1 + len(texts)) / (1 + n_texts)) + 1  # as scikit-learn with smooth_idf
    return Vocabulary(words=tuple(words[chosen].tolist()), idf=tuple(idf.astype(np.float32).tolist()))
