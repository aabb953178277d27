"""Tasks: pairs to learn from and test items to be judged by, made from a data set as one specification says."""

from confdiff.tasks.exporting import export_comparisons
from confdiff.tasks.protocols import GRADED_BY_PEOPLE, PROTOCOLS, SETTINGS, Protocol, Setting
from confdiff.tasks.saving import read_truth, save_task
from confdiff.tasks.spec import TaskSpec
from confdiff.tasks.task import Task, make_task, split, why_not_made

__all__ = [
    "GRADED_BY_PEOPLE",
    "PROTOCOLS",
    "SETTINGS",
    "Protocol",
    "Setting",
    "Task",
    "TaskSpec",
    "export_comparisons",
    "make_task",
    "read_truth",
    "save_task",
    "split",
    "why_not_made",
]
