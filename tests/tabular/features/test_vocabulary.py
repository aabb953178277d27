"""Words and pairs of words of texts, and their sparse weights."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from confdiff.tabular.features.encoders import encoder_from_state
from confdiff.tabular.features.reading import FeatureColumns
from confdiff.tabular.features.vocabulary import Vocabulary, learn_vocabulary
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import ItemTable

RNG = np.random.default_rng(0)
TEXTS = np.array([" ".join(RNG.choice([f"w{i}" for i in range(30)], 8)) for _ in range(60)], dtype=object)


def test_weights_are_those_of_scikit_learn():
    vocabulary = learn_vocabulary(TEXTS, 10_000)
    theirs = TfidfVectorizer(min_df=2, ngram_range=(1, 2), sublinear_tf=True).fit(TEXTS)
    assert list(vocabulary.words) == theirs.get_feature_names_out().tolist()
    ours = vocabulary.weights(TEXTS)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours.toarray(), theirs.transform(TEXTS).toarray(), atol=1e-6)


def test_single_words_come_before_pairs_of_words():
    everything = learn_vocabulary(TEXTS, 10_000).words
    single = [word for word in everything if " " not in word]
    assert list(learn_vocabulary(TEXTS, len(single)).words) == single
    with_pairs = learn_vocabulary(TEXTS, len(single) + 3).words
    assert sum(" " in word for word in with_pairs) == 3
    assert set(single) < set(with_pairs)


def test_the_most_frequent_words_are_used():
    texts = np.array(["b a", "b a", "b c", "c d"], dtype=object)
    texts = np.array([text.replace(" ", "x ") + "x" for text in texts], dtype=object)  # tokens of two letters
    assert learn_vocabulary(texts, 1).words == ("bx",)
    assert learn_vocabulary(texts, 2).words == ("ax", "bx")


def test_words_of_one_text_are_left_out():
    assert learn_vocabulary(np.array(["old cat", "cat new"], dtype=object), 10).words == ("cat",)
    with pytest.raises(ValueError, match="no terms remain"):
        learn_vocabulary(np.array(["old", "new"], dtype=object), 10)


def test_a_vocabulary_of_single_words_has_no_pairs():
    weights = Vocabulary(("cat", "dog"), (1.0, 2.0)).weights(["cat dog", "bird"]).toarray()
    np.testing.assert_allclose(weights[0], np.array([1, 2]) / np.sqrt(5), rtol=1e-6)
    assert not weights[1].any()


def test_single_letters_and_marks_are_words():
    texts = np.array(["I see!", "I hope!"], dtype=object)
    vocabulary = learn_vocabulary(texts, 10)
    assert vocabulary.words == ("!", "i")
    np.testing.assert_array_equal(vocabulary.weights(["I", "see"]).toarray(), [[0, 1], [0, 0]])


def test_encoders_saved_without_the_kind_of_words_have_long_words():
    state = {
        "kind": "text",
        "columns": ["text"],
        "words": ["think so"],
        "idf": [1.0],
        "mean": [0.0] * 7,
        "scale": [1.0] * 7,
    }
    old = encoder_from_state(state)
    new = encoder_from_state(state | {"tokens": "words and marks"})
    texts = np.array(["I think, so"], dtype=object)
    items = ItemTable(source=TableSource("items"), ids=np.arange(1), columns={"text": texts}, types={"text": "text"})
    columns = FeatureColumns(items, {"text": "text"})
    assert old.encode(columns)[0, 0] == 1
    assert new.encode(columns)[0, 0] == 0
    with pytest.raises(ValueError, match="tokens"):
        encoder_from_state(state | {"tokens": "syllables"})
