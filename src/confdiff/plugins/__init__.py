"""Plug-ins: methods, data sets and networks of other programs, under names that all commands and workers know.

A plug-in is a Python file or an installed package. While it is loaded, it calls :func:`confdiff.register_method`,
:func:`confdiff.register_dataset` or :func:`confdiff.register_model`. Its name and its version enter the keys of trials.
"""

from confdiff.plugins.loading import load_installed_plugins, load_plugins, load_sent_plugins, loaded_plugins
from confdiff.plugins.plugin import Plugin
from confdiff.plugins.registering import (
    RegistrationError,
    TableKind,
    add_to_table,
    check_new_name,
    count_file,
    look_up,
    plugin_of,
    versions_of,
)

__all__ = [
    "Plugin",
    "RegistrationError",
    "TableKind",
    "add_to_table",
    "check_new_name",
    "count_file",
    "load_installed_plugins",
    "load_plugins",
    "load_sent_plugins",
    "loaded_plugins",
    "look_up",
    "plugin_of",
    "versions_of",
]
