"""Tables in files: Parquet, CSV, TSV or JSON lines by the ending of the name, written whole or not at all."""

from confdiff.files.pairs import companion, first_repeated, places_of, read_pairs, rows_of, with_columns
from confdiff.files.tables import TABLES, check_table_name, read_arrow, read_table, write_table

__all__ = [
    "TABLES",
    "check_table_name",
    "companion",
    "first_repeated",
    "places_of",
    "read_arrow",
    "read_pairs",
    "read_table",
    "rows_of",
    "with_columns",
    "write_table",
]
