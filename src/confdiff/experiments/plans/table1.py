"""Table 1 of the paper: images."""

from confdiff.experiments.plans.table_section import table_experiment

TABLE1 = table_experiment("table1")
