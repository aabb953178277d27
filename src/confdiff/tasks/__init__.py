"""Tasks: pairs to learn from and a test set, made from a data set as one specification determines."""

from confdiff.tasks.exporting import export_comparisons, exported_files
from confdiff.tasks.protocols import PROTOCOLS, Protocol
from confdiff.tasks.saving import read_truth, save_task, task_files
from confdiff.tasks.spec import TaskSpec
from confdiff.tasks.task import Task, make_task, split, teacher_file, why_not_made

__all__ = [
    "PROTOCOLS",
    "Protocol",
    "Task",
    "TaskSpec",
    "export_comparisons",
    "exported_files",
    "make_task",
    "read_truth",
    "save_task",
    "split",
    "task_files",
    "teacher_file",
    "why_not_made",
]
