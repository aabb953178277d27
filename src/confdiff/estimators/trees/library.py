"""Load LightGBM, and say what to do where its OpenMP library is missing."""

from typing import Any


def load_lightgbm() -> Any:
    """Return the module of LightGBM.

    Raises
    ------
    OSError
        Its native library cannot be loaded. On macOS, this is so until libomp is installed.
    """
    try:
        import lightgbm
    except OSError as error:
        cause = str(error).splitlines()[0]
        raise OSError(
            "boosted trees need the OpenMP library of the system, which LightGBM cannot load. On macOS, run `brew "
            f"install libomp`; on Linux, install libgomp. The cause: {cause}"
        ) from error
    return lightgbm
