import builtins
import sys

import pytest

from confdiff import ConfDiffBoosting
from confdiff.estimators.trees.library import load_lightgbm
from easy import easy_pairs


def test_a_missing_openmp_library_is_named(monkeypatch):
    original = builtins.__import__

    def refusing(name, *arguments, **options):
        if name == "lightgbm":
            raise OSError("dlopen(lib_lightgbm.dylib): Library not loaded: @rpath/libomp.dylib\n  Referenced from: x")
        return original(name, *arguments, **options)

    assert load_lightgbm() is sys.modules["lightgbm"]
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(OSError, match=r"On macOS, run `brew install libomp`.*libomp.dylib$") as caught:
        ConfDiffBoosting(prior=0.5).fit(easy_pairs())
    assert "\n" not in str(caught.value)
