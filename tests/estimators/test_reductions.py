"""Several classes as several binary problems."""

import numpy as np
import pytest

from confdiff import ConfDiffClassifier, OneVersusOne, OneVersusRest
from easy import easy_pairs, pairs_of_three_classes


@pytest.mark.filterwarnings("ignore:the differences do not determine")  # of two classes, even if not of all three
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("kind", [OneVersusRest, OneVersusOne])
def test_reductions_of_many_classes_to_two(kind, told):
    pairs, r = pairs_of_three_classes()
    prior = r.mean(axis=0) if told else None
    model = kind(ConfDiffClassifier(model="linear", batch_size=64), prior=prior, classes=("a", "b", "c"))
    items = pairs.items.numpy()
    shares = model.fit(pairs).predict_proba(items)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (model.predict(items) == np.array(["a", "b", "c"])[r.argmax(axis=1)]).mean() > 0.85
    if kind is OneVersusRest:
        assert model.score(pairs) > 0.8
    else:
        assert not hasattr(model, "score")
    with pytest.raises(ValueError, match=r"shape \(n, K\)"):
        kind(ConfDiffClassifier()).fit(easy_pairs())
