"""The file confdiff.toml on the command line: find it, name it, and write it."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from confdiff.cli.console import print_message, say
from confdiff.config import CONFIG_NAME, Config, find_config

if TYPE_CHECKING:
    from confdiff.tabular.checks.report import CheckReport


def used_config(table: Path, config: Path | None) -> Path | None:
    """Return the file of roles and options that a command reads, and print its name; None if there is none."""
    path = find_config(table, config)
    if path is not None:
        print_message(f"columns and options from {path}; flags win")
    return path


def config_to_write(table: Path, config: Path | None) -> Path:
    """Return the file that ``check --write-config`` writes: the one it was given, or that of the table's folder."""
    return table.parent / CONFIG_NAME if config is None else config


def write_config(path: Path, report: "CheckReport", given: Config) -> None:
    """Write the columns, the scale and the meaning that a check found, and the options that were given."""
    from confdiff.io.atomic import write_text

    roles = {column.role: column.name for column in report.pairs.columns}
    found = Config(
        id=report.id_name,
        scale=given.scale if report.scale is None else report.scale.option,
        labels=given.labels,
        encoding=given.encoding,
        prior=given.prior,
        link=given.link or report.link,
        ignore=given.ignore,
        kinds=given.kinds,
        judges=given.judges,
        **roles,
    )
    header = "# The columns of the tables in this folder, for all commands of confdiff. Flags win.\n"
    write_text(path, header + found.to_toml())


def offer_config() -> None:
    """Print the command that writes the file."""
    command = shlex.join(["confdiff", *sys.argv[1:], "--write-config"])
    say(f"To store these columns in {CONFIG_NAME} for all commands: {command}")
