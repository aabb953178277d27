"""Experiments: grids of trials, their execution, and the report."""
