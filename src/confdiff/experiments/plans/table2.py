"""Table 2 of the paper: UCI data sets."""

from confdiff.experiments.plans.table_section import table_experiment

TABLE2 = table_experiment("table2")
