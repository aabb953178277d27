import torch

from confdiff.randomness import derived_seed, generator, seeded


def test_streams_are_independent():
    paths = [("a",), ("b",), ("a", 0), ("a", 1), (0, "a")]
    assert len({derived_seed(7, *path) for path in paths}) == len(paths)
    assert torch.rand(1, generator=generator(7, "a")) == torch.rand(1, generator=generator(7, "a"))


def test_seeded_restores_the_global_generator():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    with seeded(3, "x"):
        inside = torch.rand(2)
    assert torch.equal(torch.get_rng_state(), before)
    with seeded(3, "x"):
        assert torch.equal(torch.rand(2), inside)
