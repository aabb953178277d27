"""Check the scale of the differences: unknown, recognised, hardly used, or with values outside it."""

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, row_findings
from confdiff.tabular.scales import Scale

_LITTLE = 0.25  # of a recognised scale: if no more of it is used, it may be another scale


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
        findings.append(_recognised_scale(scale, data.pairs.difference))
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
        action="`fit` stops with an error: pass the ends of the scale, "
        f"such as scale=({least:g}, {greatest:g}) if these are its ends.",
    )


def _recognised_scale(scale: Scale, difference: NDArray[np.float64]) -> Finding:
    largest = float(np.abs(scale.differences(difference[np.isfinite(difference)])).max())
    text = f"The differences were recognised as {scale.name}: {scale_formula(scale)}."
    if largest < _LITTLE:
        text += f" The values use only {largest:.0%} of it, so it may be another scale."
    return Finding(
        kind="scale",
        severity="warning" if largest < _LITTLE else "note",
        count=1,
        text=text,
        action="`fit` recognises the same scale. If it is another one, pass scale=(low, high).",
    )


def scale_formula(scale: Scale) -> str:
    """Return the formula that converts judgements to differences.

    >>> scale_formula(Scale(1, 7, "a 7-point scale from 1 to 7"))
    'c = (value - 4) / 3'
    """
    middle = (scale.low + scale.high) / 2
    half_width = (scale.high - scale.low) / 2
    centred = "value" if middle == 0 else f"(value {'-' if middle > 0 else '+'} {abs(middle):g})"
    return f"c = {centred}" + ("" if half_width == 1 else f" / {half_width:g}")
