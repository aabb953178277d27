"""Experiments: what is compared, how it is run, and how the results are shown."""
