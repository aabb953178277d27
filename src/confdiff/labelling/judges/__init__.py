"""LLM judges: annotators that answer through an OpenAI-compatible chat-completions endpoint."""
