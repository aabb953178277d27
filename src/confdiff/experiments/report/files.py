"""Write blocks as the files of a report: a page, Markdown, tables for programs, and pictures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from confdiff.display.figures import save_figure
from confdiff.experiments.report.blocks import Block, CsvFile, Opening, Picture
from confdiff.experiments.report.csv import as_csv
from confdiff.experiments.report.html import as_html
from confdiff.experiments.report.markdown import as_markdown
from confdiff.io.atomic import write_text
from confdiff.io.outputs import check_new_report

_PICTURE_ENDINGS = ("png", "svg")


@dataclass(frozen=True)
class ReportFiles:
    """The contents of a report.

    Attributes
    ----------
    name : str
        Name of the page and of the Markdown document, without their endings.
    title, lead : str
        The title, and the line below it.
    blocks : sequence of Block
        The contents.
    tables : sequence of CsvFile
        Tables for programs.
    texts : mapping
        Further files: name -> contents.
    """

    name: str
    title: str
    lead: str
    blocks: Sequence[Block]
    tables: Sequence[CsvFile] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    def write(self, folder: Path, *, overwrite: bool = False, escape: bool = True) -> dict[str, Path]:
        """Write all files.

        Parameters
        ----------
        folder : Path
            Folder for the files; those of pictures are in its folder ``images``.
        overwrite : bool
            Replace files of these names even if an earlier report did not write them.
        escape : bool
            Escape texts in CSV files that a spreadsheet program would run as formulas.

        Returns
        -------
        dict
            Kind of file -> its path.
        """
        texts = {
            "page": (f"{self.name}.html", as_html(self.title, self.lead, self.blocks)),
            "markdown": (f"{self.name}.md", as_markdown(self.title, self.blocks)),
        }
        texts |= {table.name: (f"{table.name}.csv", as_csv(table, escape=escape)) for table in self.tables}
        texts |= {name: (name, text) for name, text in self.texts.items()}
        files = {kind: folder / name for kind, (name, _) in texts.items()}
        pictures = _pictures(self.blocks)
        figures = picture_files(folder, [picture.name for picture in pictures])
        check_new_report(files | figures, overwrite=overwrite)
        for kind, path in files.items():
            write_text(path, texts[kind][1])
        for picture in pictures:
            figure = picture.draw()
            for ending in _PICTURE_ENDINGS:
                save_figure(figure, figures[f"{picture.name}, {ending}"])
        return files | figures


def picture_files(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Return the files of the pictures of a report by kind.

    >>> picture_files(Path("report"), ["ranks"])["ranks, svg"]
    PosixPath('report/images/ranks.svg')
    """
    return {
        f"{name}, {ending}": folder / "images" / f"{name}.{ending}" for name in names for ending in _PICTURE_ENDINGS
    }


def _pictures(blocks: Sequence[Block]) -> list[Picture]:
    """Return the pictures with files of their own."""
    pictures = [block.chart if isinstance(block, Opening) else block for block in blocks]
    return [picture for picture in pictures if isinstance(picture, Picture) and picture.name]
