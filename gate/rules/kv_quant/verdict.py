"""Verdicts on codecs, against those that their arms give."""

from collections.abc import Iterator

from gate.figures.codecs import worthwhile
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import KV_CODEC, Example, Finding


@evidence_rule(
    "KVQUANT_VERDICT",
    title="A printed verdict that does not follow",
    catches="A verdict on a codec other than the one its arms give: worth a kernel only if, at no more bits than "
    "affine 4, it errs less and recalls no less, over both questions.",
    why="A smaller error at more bits is no improvement; affine with those bits errs less still.",
    fix="Print the verdict that the three comparisons give, and the figures beside it.",
    blocks=KV_CODEC,
    example=Example(
        bad="worthwhile, though affine 4 errs less at as many bits",
        good="worthwhile: fewer bits, less error, no less recall",
    ),
)
def kvquant_verdict(view: ReportView) -> Iterator[Finding]:
    """A stated verdict is not the derived one."""
    result = view.report.kv_quant
    for verdict in result.verdicts if result is not None else ():
        derived = worthwhile(view, verdict.arm)
        if derived is not verdict.worthwhile:
            found, allowed = str(verdict.worthwhile).lower(), "nothing" if derived is None else str(derived).lower()
            yield Finding(
                f"{verdict.arm}: worthwhile is stated as {found}, the arms give {allowed}",
                arm=verdict.arm,
                field="kv_quant.verdicts",
                found=found,
                allowed=allowed,
                severity="withheld" if derived is None else None,
            )
