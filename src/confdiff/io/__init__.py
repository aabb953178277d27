"""Files: atomic writes, trees of tensors, tables, and the lookup of rows by id."""
