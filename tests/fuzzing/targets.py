"""What is fuzzed: one row of TARGETS per kind of file that confdiff reads.

Layout of this folder:

- ``forging.py`` damages bytes, JSON values, tensors and file system entries;
- ``saved_files.py`` defines the targets that confdiff writes: model folders, checkpoints, results, recommenders and
  cached teachers; ``table_files.py`` those of users: bytes of every reader of tables;
- ``targets.py`` is the table of all of them;
- ``cases.py`` runs one case: copy the valid files, damage them, open them, judge the outcome;
- ``run.py`` is ``make fuzz``: random seeds for minutes, in child processes that may crash or hang;
- ``test_fuzzing.py`` runs a few seeded cases of every target in ``make test``.

A new target is one ``Target(...)`` in a module of its family, and its row here.
"""

from fuzzing.saved_files import SAVED_FILES
from fuzzing.table_files import TABLE_FILES
from fuzzing.target import Target

TARGETS: dict[str, Target] = {target.name: target for target in (*SAVED_FILES, *TABLE_FILES)}
