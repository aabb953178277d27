"""Describe a plug-in: its name, its version, and how another process loads the same one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plugin:
    """A file or a package that registers methods, data sets or networks.

    Attributes
    ----------
    name : str
        The name of the file without its ending, or of the package.
    version : str
        Its ``__version__``; else the version of the installed package, or a digest of the file.
    module : str
        The name of its module in :data:`sys.modules`.
    source : str
        The path of the file or the name of the package, as the user wrote it.
    program : str or None
        The text of the file, which workers execute; None for a package, which must be installed where they run.
    """

    name: str
    version: str
    module: str
    source: str
    program: str | None = None

    def __str__(self) -> str:
        """Return name and version.

        >>> print(Plugin("mine", "1.0", "confdiff_plugin_mine", "mine.py", ""))
        mine 1.0
        """
        return f"{self.name} {self.version}"
