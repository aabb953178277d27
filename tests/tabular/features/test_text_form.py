"""Measures of the form of texts."""

import numpy as np

from confdiff.tabular.features.text_form import FORM, form_of


def test_the_form_of_texts_by_hand():
    text = "Well, is it so? No!"
    form = dict(zip(FORM, form_of([text, "  small", ""]).T, strict=True))
    assert form["commas"].tolist() == [np.log(2), 0, 0]
    assert form["exclamation marks"].tolist() == form["question marks"].tolist() == [np.log(2), 0, 0]
    assert form["lower-case first letter"].tolist() == [0, 1, 0]
    assert form["characters per word"].tolist() == [len(text) / 5, 7, 0]
    assert form["length"].tolist() == [np.log(6), np.log(2), 0]
    assert form_of([]).shape == (0, len(FORM))
