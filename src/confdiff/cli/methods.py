"""confdiff methods: the table of methods."""

import json

import typer
from rich.table import Column, Table

from confdiff.cli.console import as_cell, name_column, results, say
from confdiff.cli.options import JsonOption
from confdiff.cli.plugins import takes_plugins


@takes_plugins
def methods_command(as_json: JsonOption = False) -> None:
    """List the methods with their supervision, their use of the class prior, and their reference.

    Examples:
        confdiff methods
        confdiff methods --json
        confdiff methods --plugin my_squares.py
    """
    from confdiff.methods import METHODS, REFERENCES

    rows = [
        {
            "method": method.name,
            "learns_from": method.learns_from,
            "correction": getattr(method.correction, "__name__", "function"),
            "prior": method.prior,
            "reference": method.reference,
        }
        for method in METHODS.values()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    reference = Column("reference", overflow="fold")
    table = Table(name_column("method"), "learns from", "correction", "prior", reference)
    for row in rows:
        table.add_row(*map(as_cell, row.values()))
    results.print(table)
    for name, paper in REFERENCES.items():
        say(f"{name}: {paper}")
