"""Tables of items and comparisons: check them, fit a model, and use it."""
