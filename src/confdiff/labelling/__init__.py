"""Collect graded judgements of pairs: studies, pair designs, and a server with a page for annotators.

The public names are imported when they are first used. They need the extra ``confdiff[label]``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confdiff.labelling.design import design_pairs as design_pairs
    from confdiff.labelling.judges.asking import ask_judge as ask_judge
    from confdiff.labelling.judges.judge_settings import JudgeSettings as JudgeSettings
    from confdiff.labelling.settings import StudySettings as StudySettings
    from confdiff.labelling.study import Study as Study
    from confdiff.labelling.study import create_study as create_study
    from confdiff.labelling.study import open_study as open_study

_HOME = {
    "JudgeSettings": "judges.judge_settings",
    "Study": "study",
    "StudySettings": "settings",
    "ask_judge": "judges.asking",
    "create_study": "study",
    "design_pairs": "design",
    "open_study": "study",
}

__all__ = sorted(_HOME)

_EXTRA = ("sqlalchemy", "fastapi", "starlette", "uvicorn", "httpx", "markdown_it")


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        raise ValueError(
            f"collecting judgements needs the package {error.name}: install it with `pip install 'confdiff[label]'`."
        ) from error


def __dir__() -> list[str]:
    return __all__
