"""Comparisons of methods: a plan, its trials as results, statistics, and a page."""
