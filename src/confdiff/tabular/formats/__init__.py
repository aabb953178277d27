"""Files of other tools, one module per format; ``registry.py`` has the table of formats."""
