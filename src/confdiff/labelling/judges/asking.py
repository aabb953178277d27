"""Ask a judge all its questions, and store its answers like those of a person."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from confdiff.labelling.judges.api_key import key_of
from confdiff.labelling.judges.asker import Asker, JudgeRun
from confdiff.labelling.judges.budget import JudgeBudget
from confdiff.labelling.judges.endpoint import connected
from confdiff.labelling.judges.exclusive import asking_alone
from confdiff.labelling.judges.judge_settings import JudgeSettings, template_of
from confdiff.labelling.judges.prompts import Prompts
from confdiff.labelling.judges.records import (
    planned_judge_questions,
    register_judge,
    stored_assignments,
    used_by,
)

if TYPE_CHECKING:
    from confdiff.labelling.study import Study


def ask_judge(
    study: "Study",
    settings: JudgeSettings,
    *,
    on_progress: Callable[[int, Counter[str]], None] = lambda answers, faults: None,
) -> JudgeRun:
    """Ask an LLM judge the questions of a study, and store its answers like those of a person.

    A judge is asked about each pair of the plan in both orders. What it answered is not asked again, in whatever run.
    The questions of people are not touched.

    Parameters
    ----------
    study : Study
        The study, which may be served at the same time.
    settings : JudgeSettings
        The judge.
    on_progress : callable
        Receives the number of answers of this run and the faults by code, after each request.

    Returns
    -------
    JudgeRun
        What was asked, and why the run ended if questions remain.

    Raises
    ------
    ValueError
        If the judge cannot be asked: its template, its key, or its name.
    """
    template = template_of(settings)
    prompts = Prompts(study, template)
    key = key_of(settings)
    with study.database.reading() as connection:
        planned = planned_judge_questions(connection, settings.pairs)
    with study.database.writing() as connection:
        annotator = register_judge(connection, settings, template, len(planned))
    with asking_alone(study.database, annotator, settings.name):
        with study.database.reading() as connection:
            stored = stored_assignments(connection, annotator)
            requests, tokens = used_by(connection, annotator)
        budget = JudgeBudget(
            max_requests=settings.max_requests, max_tokens=settings.max_tokens, requests=requests, tokens=tokens
        )
        answered = {key for key, (_, is_answered) in stored.items() if is_answered}
        remaining = [question for question in planned if question.key not in answered]

        async def ask() -> JudgeRun:
            async with connected(settings, key) as endpoint:
                asker = Asker(study, settings, prompts, budget, endpoint, on_progress)
                return await asker.run(remaining, {key: assignment for key, (assignment, _) in stored.items()})

        return _run(ask)


def _run(ask: Callable[[], Coroutine[Any, Any, JudgeRun]]) -> JudgeRun:
    """Run a coroutine to its end; in a thread of its own where an event loop runs already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(ask())
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(ask())).result()
