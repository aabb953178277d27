"""The command line: it parses flags and prints results. Slow imports happen only in the command that needs them."""

from confdiff.cli.main import main

__all__ = ["main"]
