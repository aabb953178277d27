"""Columns of a table as a matrix of numbers."""
