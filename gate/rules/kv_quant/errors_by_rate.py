"""Errors of a codec, which fall with every bit."""

import itertools
import re
from collections.abc import Iterator

from gate.figures.codecs import codec_figures
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import KV_CODEC, Example, Finding
from reports.records.codec_rows import (
    CodecArm,
)

_RATED = re.compile(r"(?P<before>.*?\D)(?P<bits>\d{1,2})(?P<after>-g\d+)?")


@evidence_rule(
    "KVQUANT_ORDER",
    title="A codec that errs more at more bits",
    catches="Two arms of one codec, alike in everything but bits, of which the one with more bits errs no less.",
    why="Errors fall by about four for every bit. Where they do not, a figure or a name was exchanged.",
    fix="Let `k3 kvquant` write the rows; do not edit them.",
    severity="withheld",
    blocks=KV_CODEC,
    example=Example(bad="6 bits err by 0.0004, 8 bits by 0.004", good="6 bits err by 0.0004, 8 bits by 0.00003"),
)
def kvquant_order(view: ReportView) -> Iterator[Finding]:
    """The errors of a codec do not fall with its rate."""
    families: dict[tuple[str, str], list[tuple[int, CodecArm]]] = {}
    for arm in view.report.kv_quant.arms if view.report.kv_quant is not None else ():
        named = _RATED.fullmatch(arm.codec)
        if named is not None and arm.samples and arm.name == arm.codec:
            families.setdefault((named["before"], named["after"] or ""), []).append((int(named["bits"]), arm))
    for family in families.values():
        ordered = [arm for _, arm in sorted(family, key=lambda rated: rated[0])]
        for fewer, more in itertools.pairwise(ordered):
            less, greater = codec_figures(more).error, codec_figures(fewer).error
            if less is not None and greater is not None and less >= greater:
                message = f"{more.name}: errs by {less:.3g}, {fewer.name} with fewer bits by {greater:.3g}"
                yield Finding(message, more.name, None, "relative_error_k", f"{less:.3g}", f"below {greater:.3g}")
