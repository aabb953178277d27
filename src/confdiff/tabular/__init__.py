"""Own data: from a file of comparisons to a trusted model."""
