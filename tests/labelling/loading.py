"""The benchmark of the server's load, as a module."""

import runpy
from pathlib import Path
from types import SimpleNamespace

LOAD = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "labelling_load.py")))
