"""Rank a fixed list of items from graded comparisons, without features."""
