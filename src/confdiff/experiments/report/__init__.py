"""The report: blocks, their renderers (Markdown, HTML, CSV), plots."""
