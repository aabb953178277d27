"""Pages in a window of 500 pixels: nothing is cut off, and no table needs scrolling."""

import pytest

from browser import measured_widths
from confdiff.tabular.checks.page import check_html
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.model.card import card_html
from confdiff.tabular.model.evaluation import evaluate_labels, write_evaluation
from judging import crowd, exact
from tabular.people import FRAME, RISK

LONG = "a-name-without-blanks-" * 8


def assert_fits(page, folder, width):
    widths = measured_widths(page, folder, width)
    assert widths["window"] == width
    assert widths["page"] <= width
    assert widths["hidden"] == 0


def check_page():
    annotators = {f"{name}@department.example.com": exact for name in "abcdefgh"}
    items, pairs = crowd(**annotators, **{LONG: lambda c: -c})
    pairs.loc[0, "left"] = LONG
    return check_html(check_comparisons(items.assign(**{LONG: items["r"] ** 2}), pairs))


@pytest.mark.parametrize("width", [500, 1200])
def test_the_check_fits_the_window(tmp_path, width):
    assert_fits(check_page(), tmp_path, width)


def test_the_model_card_fits_the_window(model, tmp_path):
    assert_fits(card_html(model), tmp_path, 500)


def test_the_evaluation_fits_the_window(model, tmp_path):
    FRAME.assign(ill=RISK > 0.5).to_parquet(tmp_path / "items.parquet")
    evaluation = evaluate_labels(model, tmp_path / "items.parquet", "ill")
    page = write_evaluation(evaluation, tmp_path / "page", LONG)["page"].read_text()
    assert_fits(page, tmp_path, 500)
