"""THE typing decision: which type a column has, its values of that type, and their canonical text.

``lattice`` lists the types, ``physical`` turns any column into plain Arrow arrays, ``text_cells`` is the grammar of
cells of text, ``deciding`` finds the type of a column, and ``converting`` reads a column as a type.
"""
