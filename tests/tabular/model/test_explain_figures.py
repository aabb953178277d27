import pytest

from confdiff.tabular.model.explain_figures import contributions_figure


@pytest.mark.parametrize("label", ["\ud800", "price in $ or $$", "x" * 500, "", "two\nlines"])
def test_any_label_is_drawn(label):
    figure = contributions_figure([label, "age"], [0.5, -0.2])
    figure.canvas.draw()
    drawn = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert drawn[1] == "age"
    assert len(drawn[0]) <= 42
