"""Table 2 of the paper: UCI data sets. ``paper_tables.py`` has the grid and its defaults."""

from confdiff.experiments.plans.table_section import table_experiment

TABLE2 = table_experiment("table2")
