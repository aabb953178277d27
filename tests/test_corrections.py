import torch
from hypothesis import given
from hypothesis import strategies as st

from confdiff.corrections import CORRECTIONS

numbers = st.floats(-1e6, 1e6)


@given(a=numbers, b=numbers)
def test_are_lipschitz_with_constant_one(a, b):
    for correction in CORRECTIONS.values():
        x, y = correction(torch.tensor([a, b], dtype=torch.float64)).tolist()
        assert abs(x - y) <= abs(a - b) * (1 + 1e-12)


@given(z=numbers)
def test_are_ordered_and_keep_what_is_not_negative(z):
    values = {name: f(torch.tensor(z, dtype=torch.float64)).item() for name, f in CORRECTIONS.items()}
    assert values["identity"] <= values["relu"] <= values["absolute"]
    if z >= 0:
        assert set(values.values()) == {z}
    else:
        assert (values["identity"], values["relu"], values["absolute"]) == (z, 0, -z)
