"""Descriptions of fits that pass through JSON."""

import json

import pytest

from confdiff.estimators.selection import ComparedCandidate, Estimate, Selection
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.model.about import About, DataSummary, Histogram, Validation
from confdiff.tabular.model.agreement import Agreement
from confdiff.tabular.model.importance import ColumnImportance, Importance
from confdiff.tabular.model.words import WordEffect

DATA = DataSummary(
    items=5, compared_items=4, pairs=9, columns={"age": "number"}, features=1, scale="differences from -1 to 1"
)
TEST = Agreement(pairs=3, r2=0.5, pairwise_accuracy=0.75, interval=(0.2, 0.9), rmse=0.1, correlation=0.8)

IMPORTANCE = Importance(
    pairs=3,
    repeats=5,
    columns=(
        ColumnImportance(column="age", r2_drop=0.4, r2_error=0.1, accuracy_drop=None, accuracy_error=None),
        ColumnImportance(column="note", r2_drop=-0.1, r2_error=0.0, accuracy_drop=0.2, accuracy_error=0.1),
    ),
    words={"note": (WordEffect(word="severe", effect=0.5, texts=7),)},
)


SELECTION = Selection(
    rows=(
        ComparedCandidate(candidate="linear", link="score", folds=3, chosen=True, seconds=1.5, r2=Estimate(0.5, 0.1)),
        ComparedCandidate(candidate="mlp", link="score", folds=0, chosen=False, note="not tried"),
    ),
    held_out="items",
    folds=3,
    pairs=100,
)


def validation(new_items=None):
    return Validation(
        training_pairs=4, validation_pairs=2, test=TEST, new_items=new_items, reliability=((0.1, 0.2, 3),)
    )


@pytest.mark.parametrize("figures", [None, validation(), validation(TEST)])
@pytest.mark.parametrize("selection", [None, SELECTION])
def test_what_is_known_of_a_fit_comes_back_through_json(figures, selection):
    options = FitOptions(prior="estimate", kinds={"age": "number"}, weight_decay=1e-5)
    about = About(
        data=DATA,
        options=options,
        validation=figures,
        selection=selection,
        outputs=Histogram(low=0.0, high=1.0, counts=(1, 0, 4)),
        importance=IMPORTANCE,
        warnings=("few pairs",),
    )
    assert About.from_json(json.loads(json.dumps(about.to_json(), allow_nan=False))) == about


def test_times_are_not_written_so_that_the_same_fit_writes_the_same_files():
    (chosen, _) = SELECTION.to_json()["rows"]
    assert chosen["seconds"] is None
    with pytest.raises(ValueError, match="must have one chosen row"):
        Selection.from_json(SELECTION.to_json() | {"rows": [chosen, chosen]})
