import pytest

from confdiff.tabular.fitting import fit_comparisons
from tabular.people import FRAME, JUDGED


@pytest.fixture(scope="module")
def model():
    """A model of the people's risk."""
    return fit_comparisons(FRAME, JUDGED, model="linear", epochs=40)
