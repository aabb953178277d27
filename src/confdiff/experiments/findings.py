"""All that a report shows, worked out from the trials that there are."""

from collections.abc import Sequence
from dataclasses import dataclass

from confdiff.experiments.figures import FIGURES
from confdiff.experiments.oracles import OracleRow, oracle_rows
from confdiff.experiments.parts import PartRow, part_rows
from confdiff.experiments.points import Curves, curves_of
from confdiff.experiments.rankings import RankingRow, ranking_rows
from confdiff.experiments.sections import Section, sections_of
from confdiff.experiments.study import StudyCell, study_cells
from confdiff.experiments.trials.run import Record


@dataclass(frozen=True)
class Findings:
    """The parts of a report, each of which may be empty.

    sections, rankings: the paper's Tables 1 and 2, and its Table 3.
    parts: what there is on a part of a data set.
    figures: the paper's.
    oracles, study: methods that need no prior beside the oracle, and under noise.
    """

    sections: Sequence[Section] = ()
    parts: Sequence[PartRow] = ()
    rankings: Sequence[RankingRow] = ()
    figures: Sequence[Curves] = ()
    oracles: Sequence[OracleRow] = ()
    study: Sequence[StudyCell] = ()


def findings_of(records: Sequence[Record]) -> Findings:
    """What the trials say."""
    return Findings(
        sections=sections_of(records),
        parts=part_rows(records),
        rankings=ranking_rows(records),
        figures=[curves for name in FIGURES if (curves := curves_of(name, records))],
        oracles=oracle_rows(records),
        study=study_cells(records),
    )
