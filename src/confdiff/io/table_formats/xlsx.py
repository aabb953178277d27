"""Excel workbooks (.xlsx) with one sheet of data, by the package openpyxl."""

import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.json_values import as_column
from confdiff.io.table_formats.table_format import TableFormat, check_has_columns

_Cells = tuple[Any, ...]

_MOST_BYTES = 2**31  # of an unpacked workbook
_MISSING = "#N/A"
_ERRORS = frozenset(["#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!"])  # values of failed formulas


class _Xlsx(TableFormat):
    def read(self, path: Path, columns: list[str] | None) -> Any:
        import pyarrow

        with _open_sheet(path) as (names, rows):
            check_has_columns(names, columns or [])
            return pyarrow.Table.from_batches([_as_batch(list(rows), names, columns or names)])

    def read_batches(self, path: Path, columns: list[str], rows: int) -> Iterator[Any]:
        with _open_sheet(path) as (names, cells):
            check_has_columns(names, columns)
            while part := list(islice(cells, rows)):
                yield _as_batch(part, names, columns)

    def read_column_names(self, path: Path) -> list[str]:
        with _open_sheet(path) as (names, _):
            return names

    def check_packages(self) -> None:
        import_openpyxl()

    @contextmanager
    def open_writer(self, path: Path, schema: Any, *, escape: bool = True) -> Iterator[Callable[[Any], None]]:
        from confdiff.io.table_formats.xlsx_writer import XlsxWriter

        writer = XlsxWriter(schema.names)
        try:
            yield writer.append
            writer.save(path)
        except BaseException:
            writer.discard()
            raise


@contextmanager
def _open_sheet(path: Path) -> Iterator[tuple[list[str], Iterator[_Cells]]]:
    """Yield the names of the columns and the rows below them, of the only sheet with data."""
    _check_archive(path)
    with _opened(path) as workbook:
        sheet = _only_sheet(path, workbook)
        if _has_formulas(path):
            _check_calculated(path, sheet)
        rows = _rows(path, sheet)
        names = _column_names(path, next(rows, ()))
        yield names, _data(path, rows, len(names))


def _check_archive(path: Path) -> None:
    """Check that a file is a zip archive of a reasonable size, as all workbooks are."""
    if path.stat().st_size == 0:
        raise ValueError(f"{path} cannot be read as a table: it is empty.")
    if not zipfile.is_zipfile(path):
        raise ValueError(
            f"{path} cannot be read as a table: it is not an .xlsx workbook, or it is damaged or has a password. "
            "Save it as .xlsx without a password, or as .csv."
        )
    with _any_error_named(path), zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > _MOST_BYTES:
        raise ValueError(f"{path} is too large for a workbook: {size / 2**30:.1f} GiB unpacked. Save it as .csv.")


@contextmanager
def _any_error_named(path: Path) -> Iterator[None]:
    """Turn what openpyxl raises for a damaged workbook, which is anything, into a message that names the file."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        text = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read as a table: the workbook is damaged ({type(error).__name__}: {text[:200]})."
        ) from error


@contextmanager
def _opened(path: Path, *, formulas: bool = False) -> Iterator[Any]:
    """Open a workbook with the values of its formulas, or with the formulas."""
    openpyxl = import_openpyxl()
    with path.open("rb") as file:  # openpyxl leaves a damaged file open
        with _any_error_named(path), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # styles and other parts without data
            workbook = openpyxl.load_workbook(file, read_only=True, data_only=not formulas)
        yield workbook


def import_openpyxl() -> Any:
    """Return the module openpyxl, which an extra installs."""
    try:
        import openpyxl
    except ImportError as error:
        raise ValueError("tables in .xlsx need the packages of confdiff[xlsx]; install them.") from error
    return openpyxl


def _only_sheet(path: Path, workbook: Any) -> Any:
    sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible" and _has_data(path, sheet)]
    if len(sheets) > 1:
        names = ", ".join(repr(sheet.title) for sheet in sheets)
        raise ValueError(f"{path} must have one sheet with data; got {names}. Save the right one as a file of its own.")
    if not sheets:
        raise ValueError(f"{path} cannot be read as a table: its sheets are empty.")
    return sheets[0]


def _has_data(path: Path, sheet: Any) -> bool:
    return any(value is not None for row in _rows(path, sheet) for value in row)


def _rows(path: Path, sheet: Any) -> Iterator[_Cells]:
    with _any_error_named(path):
        sheet.reset_dimensions()  # the size that the file states may be wrong
        yield from sheet.iter_rows(values_only=True)


def _has_formulas(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml") and _contains_formula(path, archive, name):
                return True
    return False


def _contains_formula(path: Path, archive: zipfile.ZipFile, name: str) -> bool:
    end = b""
    with _any_error_named(path), archive.open(name) as file:
        while block := file.read(1 << 20):
            text = end + block
            if b"<f>" in text or b"<f " in text:
                return True
            end = text[-2:]
    return False


def _check_calculated(path: Path, sheet: Any) -> None:
    """Check that each formula has a value: a program that wrote it without calculating leaves none."""
    with _opened(path, formulas=True) as workbook:
        formulas = _rows(path, workbook[sheet.title])
        for number, (row, values) in enumerate(zip(formulas, _rows(path, sheet), strict=False), 1):
            for formula, value in zip(row, values, strict=False):
                if formula is not None and value is None:
                    raise ValueError(
                        f"{path}, row {number}: the formula {str(formula)!r:.60} has no value. "
                        "Open the workbook in a spreadsheet program and save it."
                    )


def _column_names(path: Path, header: _Cells) -> list[str]:
    names = list(header)
    while names and names[-1] is None:
        names.pop()
    if not names:
        raise ValueError(f"{path} must have the names of the columns in row 1 of the sheet; the row is empty.")
    if None in names:
        raise ValueError(
            f"{path}: column {names.index(None) + 1} has no name. Write one in row 1, or delete the column."
        )
    return [str(name) for name in names]


def _data(path: Path, rows: Iterator[_Cells], width: int) -> Iterator[_Cells]:
    """Yield the rows of data, each of the same width, without empty ones at the end."""
    empty = 0
    for number, row in enumerate(rows, XLSX.first_row):
        cells = [_value(path, number, value) for value in row]
        if not any(cell is not None for cell in cells):
            empty += 1
            continue
        if any(cell is not None for cell in cells[width:]):
            raise ValueError(f"{path}, row {number}: a column with values has no name. Write one in row 1.")
        yield from ((None,) * width for _ in range(empty))
        empty = 0
        yield (*cells[:width], *[None] * (width - len(cells)))


def _value(path: Path, row: int, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value in _ERRORS:
        raise ValueError(f"{path}, row {row}: a formula failed with {value}. Correct it, or empty the cell.")
    return None if value in ("", _MISSING) else value


def _as_batch(rows: list[_Cells], names: list[str], wanted: list[str]) -> Any:
    import pyarrow

    indices = {name: index for index, name in enumerate(names)}
    columns = [as_column([row[indices[name]] for row in rows]) for name in wanted]
    return pyarrow.record_batch(columns, names=wanted)


XLSX = _Xlsx(
    ending=".xlsx",
    first_row=2,
    row_note="the header is row 1",
    parse_text="times",
)
