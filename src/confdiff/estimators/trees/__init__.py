"""Boosted trees on pairs: objectives, rounds of boosting, and the text of a model."""
