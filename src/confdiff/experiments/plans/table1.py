"""Table 1 of the paper: images. ``paper_tables.py`` has the grid and its defaults."""

from confdiff.experiments.plans.table_section import table_experiment

TABLE1 = table_experiment("table1")
