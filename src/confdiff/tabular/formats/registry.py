"""The table of the formats of judged pairs that other tools read and write."""

from confdiff.display.text import listed
from confdiff.tabular.formats.alpaca_eval import ALPACA_EVAL
from confdiff.tabular.formats.arena import ARENA
from confdiff.tabular.formats.comparison_format import ComparisonFormat
from confdiff.tabular.formats.helpsteer3 import HELPSTEER3
from confdiff.tabular.formats.label_studio import LABEL_STUDIO
from confdiff.tabular.formats.rows import FileRow
from confdiff.tabular.formats.trl import TRL
from confdiff.validation import check_choice

_FORMATS: tuple[ComparisonFormat, ...] = (TRL, HELPSTEER3, ALPACA_EVAL, ARENA, LABEL_STUDIO)

COMPARISON_FORMATS = {known.name: known for known in _FORMATS}
"""Name -> format."""


def find_format(name: str) -> ComparisonFormat:
    """Return the format of a name."""
    return COMPARISON_FORMATS[check_choice("format", name, COMPARISON_FORMATS)]


def checked_format(row: FileRow, name: str) -> ComparisonFormat:
    """Return the format of a name, which the first row of a file must have."""
    known = find_format(name)
    if not known.recognise(row):
        raise row.error(
            f"this is not a record of {name} ({known.summary}); its keys are {_keys(row)}", "Name another format."
        )
    return known


def recognised_format(row: FileRow) -> ComparisonFormat:
    """Return the only format that a row has.

    Raises
    ------
    ValueError
        No format has the keys of the row, or several have.
    """
    matches = [known for known in _FORMATS if known.recognise(row)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        reason = f"it may be {' or '.join(known.name for known in matches)}"
    else:
        reason = f"its keys are {_keys(row)}, and the formats are {listed(COMPARISON_FORMATS)}"
    raise ValueError(f"{row.position}: the format is not certain: {reason}. Name it with format='...'.")


def _keys(row: FileRow) -> str:
    return listed(map(repr, row.values)) or "none"
