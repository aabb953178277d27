"""Trials: specification, record, run, store, runner."""
