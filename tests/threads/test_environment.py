import pytest

from confdiff.threads import prepare_environment

PASSIVE = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}


@pytest.mark.parametrize(
    ("settings", "added"),
    [
        ({}, {**PASSIVE, "OPENBLAS_NUM_THREADS": "1"}),
        ({"OMP_NUM_THREADS": "4"}, PASSIVE),
        ({"OPENBLAS_NUM_THREADS": "4"}, PASSIVE),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, {"OPENBLAS_NUM_THREADS": "1"}),
        ({"GOMP_SPINCOUNT": "1000"}, {"OPENBLAS_NUM_THREADS": "1"}),
        ({"KMP_BLOCKTIME": "200"}, {"OPENBLAS_NUM_THREADS": "1"}),
    ],
)
def test_variables_of_the_user_win(settings, added):
    variables = dict(settings)
    prepare_environment(variables)
    assert variables == settings | added
