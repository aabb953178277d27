"""Graded preferences of users: interactions, pairs of items of one user, the paper's protocol and its experiment."""
