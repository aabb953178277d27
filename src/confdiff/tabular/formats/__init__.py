"""Files of other tools, one module per format."""
