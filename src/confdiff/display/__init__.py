"""One style for every page and plot."""
