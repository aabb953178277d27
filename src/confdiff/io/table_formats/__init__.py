"""Formats of table files: one module per family, and the table of all formats in ``registry``."""
