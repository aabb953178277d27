"""LLM judges: annotators that answer through an OpenAI-compatible chat-completions endpoint."""

from confdiff.labelling.judges.asking import ask_judge as ask_judge
from confdiff.labelling.judges.judge_settings import JudgeSettings as JudgeSettings
