"""confdiff label judge: let LLM judges answer the questions of a study."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from confdiff.cli.console import print_message, progress, say, status
from confdiff.cli.judge_options import (
    BaseUrlOption,
    ConcurrencyOption,
    DryRunOption,
    JudgeConfigOption,
    JudgeNameOption,
    KeyOption,
    LlmOption,
    MaxRequestsOption,
    MaxTokensOption,
    ReplyTokensOption,
    TemperatureOption,
    TemplateOption,
    TimeoutOption,
    WriteTemplateOption,
    chosen_judges,
    write_template,
)
from confdiff.cli.label_options import StudyArgument, open_for_command
from confdiff.cli.messages import translated
from confdiff.cli.options import option
from confdiff.display.text import plural

if TYPE_CHECKING:
    from confdiff.labelling import JudgeSettings
    from confdiff.labelling.judges.asker import JudgeRun
    from confdiff.labelling.judges.estimate import JudgeEstimate
    from confdiff.labelling.study import Study

_Pairs = Annotated[
    int | None, option(min=1, metavar="N", help="Number of pairs to ask, each in both orders. If omitted, all.")
]


def judge_command(
    study: StudyArgument,
    llm: LlmOption = None,
    name: JudgeNameOption = None,
    pairs: _Pairs = None,
    template: TemplateOption = None,
    write_template_to: WriteTemplateOption = None,
    dry_run: DryRunOption = False,
    base_url: BaseUrlOption = None,
    key: KeyOption = None,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    temperature: TemperatureOption = None,
    reply_tokens: ReplyTokensOption = None,
    max_requests: MaxRequestsOption = None,
    max_tokens: MaxTokensOption = None,
    config: JudgeConfigOption = None,
) -> None:
    """Let LLM judges answer the questions of a study, through an OpenAI-compatible endpoint.

    A judge is an annotator. It is asked about the pairs of the plan, each in both orders; the questions of people
    remain theirs. Requests and tokens are estimated before anything is sent. An interrupted run continues with the same
    command, and asks nothing twice. The texts of the items are sent to the endpoint.

    Example:
        confdiff label judge jokes.db --llm gpt-4o-mini --max-tokens 2000000
    """
    if write_template_to is not None:
        write_template(write_template_to)
        say(f"template: {write_template_to}")
        return
    with status("loading PyTorch"), open_for_command(study) as collection:
        judges = chosen_judges(
            study,
            config,
            llm,
            name=name,
            pairs=pairs,
            template=template,
            base_url=base_url,
            key=key,
            concurrency=concurrency,
            timeout=timeout,
            temperature=temperature,
            reply_tokens=reply_tokens,
            max_requests=max_requests,
            max_tokens=max_tokens,
        )
    with open_for_command(study) as collection:
        ask_judges(collection, judges, dry_run=dry_run)
    if not dry_run:
        say(f"next: confdiff check {study}")


def ask_judges(study: "Study", judges: "list[JudgeSettings]", *, dry_run: bool) -> None:
    """Ask several judges one after the other; one whose endpoint fails does not keep the others from being asked.

    Raises
    ------
    OSError
        If an endpoint cannot be used; what was answered is stored.
    """
    from confdiff.labelling.judges.estimate import estimate_judge

    problems = []
    for judge in judges:
        estimate = estimate_judge(study, judge)
        _say_estimate(judge, estimate)
        if dry_run:
            _say_prompt(estimate)
        elif estimate.remaining:
            run = _ask(study, judge, estimate)
            if run.has_failed:
                problems.append(f"{run.stopped} {plural(run.unanswered, 'question')} of {judge.name} remain.")
    if problems:
        raise OSError(" ".join(problems))


def _say_estimate(judge: "JudgeSettings", estimate: "JudgeEstimate") -> None:
    asked = f"{plural(estimate.pairs, 'pair')} in both orders, {plural(estimate.questions, 'question')}"
    before = f", {estimate.answered:,} answered before" if estimate.answered else ""
    say(f"{judge.name}: {asked}{before}")
    say(f"{judge.name}: to ask: {plural(estimate.remaining, 'request')}, about {estimate.tokens:,} tokens")
    limits = []
    for used, most, what in (
        (estimate.used_requests, judge.max_requests, "requests"),
        (estimate.used_tokens, judge.max_tokens, "tokens"),
    ):
        if most is not None:
            limits.append(f"{used:,} of {most:,} {what} used")
    if limits:
        say(f"{judge.name}: budget: {', '.join(limits)}")


def _say_prompt(estimate: "JudgeEstimate") -> None:
    for message in estimate.first_prompt:
        say(f"--- {message['role']} ---")
        say(message["content"])


def _ask(study: "Study", judge: "JudgeSettings", estimate: "JudgeEstimate") -> "JudgeRun":
    from confdiff.labelling import ask_judge

    with progress(judge.name, estimate.remaining) as update:

        def show(answers: int, faults: "Counter[str]") -> None:
            detail = f"{answers:,} of {estimate.remaining:,} answers"
            counted = ", ".join(f"{code} {count:,}" for code, count in faults.items())
            update(answers, detail=f"{detail}; {counted}" if counted else detail)

        run = ask_judge(study, judge, on_progress=show)
    _say_run(judge, run)
    return run


def _say_run(judge: "JudgeSettings", run: "JudgeRun") -> None:
    from confdiff.labelling.judges.reply_faults import FAULTS

    for note in run.notes:
        print_message(f"{judge.name}: {note}")
    unable = f", of which {run.cannot_say:,} cannot say" if run.cannot_say else ""
    say(f"{judge.name}: {plural(run.answers, 'answer')}{unable}, to {plural(run.requests, 'request')}")
    for code, fault in FAULTS.items():
        if run.faults[code]:
            say(f"{judge.name}: {translated(fault.words)}: {run.faults[code]:,}")
    if run.stopped and not run.has_failed:
        say(f"{judge.name}: stopped, because {translated(run.stopped)}")
    if run.unanswered and not run.has_failed:
        say(f"{judge.name}: {plural(run.unanswered, 'question')} without an answer; the same command asks them again")
