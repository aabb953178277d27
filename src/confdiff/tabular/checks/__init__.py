"""Checks of the user's tables before anything is learned from them."""
