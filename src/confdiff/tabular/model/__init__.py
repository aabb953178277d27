"""A fitted model: saved as a folder, described, scored, evaluated."""
