"""Check the scale of the differences: unknown, recognised, or with values outside it."""

import numpy as np

from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, row_findings
from confdiff.tabular.scales import Scale, possible_scales


def scale_findings(data: CheckData) -> list[Finding]:
    """Return findings about the scale and about values outside it."""
    scale = data.scale
    if scale is None:
        return [_unknown_scale(data)]
    findings = row_findings(
        "outside-scale",
        "error",
        data.is_outside_scale,
        source=data.pairs.source,
        text=f"with a difference outside {scale.name}.",
        action="`fit` stops with an error: correct the rows, or pass scale=(low, high).",
    )
    if not (data.scale_given or scale.is_plain):
        findings.append(_recognised_scale(scale))
    return findings


def _unknown_scale(data: CheckData) -> Finding:
    c = data.pairs.difference
    finite = np.isfinite(c)
    least = np.min(c[finite])
    greatest = np.max(c[finite])
    row = int(np.nanargmax(np.where(finite, np.abs(c), -1)))
    number = data.pairs.source.row(row)
    return Finding(
        kind="unknown-scale",
        severity="error",
        count=1,
        rows=(number,),
        text=f"The scale is not known: the differences range from {least:g} to {greatest:g}. "
        f"The largest in size is {c[row]:g}, in row {number}.",
        action=f"`fit` stops with an error: pass {possible_scales(c, data.pairs.notation)}.",
    )


def _recognised_scale(scale: Scale) -> Finding:
    text = f"The differences were recognised as {scale.name}: {scale.formula}. So {scale.meaning}."
    action = "`fit` recognises the same scale. If it is another one, pass scale=(low, high)."
    if scale.is_ratio:
        action = (
            "`fit` recognises the same scale. If ratios above 1 favour the first item, as in a matrix of the analytic "
            "hierarchy process, pass scale='saaty,reversed'. Otherwise confirm it with scale='saaty'."
        )
    return Finding(
        kind="scale",
        severity="warning" if scale.is_ratio else "note",
        count=1,
        text=text,
        action=action,
    )
