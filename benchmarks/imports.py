"""Compare import times with that of torch alone: the best of several interleaved runs, one process each."""

import math
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = {
    "import torch": [sys.executable, "-c", "import torch"],
    "import confdiff": [sys.executable, "-c", "import confdiff"],
    "import confdiff, all of it": [sys.executable, "-c", "from confdiff import *"],
    "confdiff --help": [str(Path(sys.executable).with_name("confdiff")), "--help"],
}


def main() -> None:
    best = dict.fromkeys(PROGRAMS, math.inf)
    for _ in range(7):
        for name, command in PROGRAMS.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[name] = min(best[name], time.perf_counter() - start)
    for name, seconds in best.items():
        print(f"{name:28s} {seconds:6.2f} s  {seconds / best['import torch']:5.2f}x import torch")


if __name__ == "__main__":
    main()
