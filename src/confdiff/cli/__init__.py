"""The command line: it parses and prints, and imports what is slow to import only in the command that needs it."""

from confdiff.cli.main import main

__all__ = ["main"]
