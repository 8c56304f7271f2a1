"""Rows of a codec run against their layers, their streams and the oracle's, and against those of fewer bits."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.figures.codecs import AFFINE_4, IDENTITY, codec_figures
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import KV_CODEC, Example, Finding
from gate.rulebook.thresholds import FIGURE_TOLERANCE

if TYPE_CHECKING:
    from reports.records.codec_rows import CodecArm, CodecSample, KvQuantResult, OracleSample, SecondQuestion

_RECORDED = ("token_ids", "layers", "held_out", "second", "stored_bytes", "values")


@evidence_rule(
    "KVQUANT_ARITHMETIC",
    title="Rows of a codec that do not add up",
    catches="An error other than that of the layers weighted by their energy, a stream said to equal the oracle's that "
    "does not, the reverse, an impossible count (a negative energy, more flips than positions, an entropy above the "
    "stored rate), an identity or affine 4 that is another codec or leaves out layers, a runtime's codec without the "
    "bytes of its cache, or a run of K3 that lacks the oracle's rows, streams, layers or held-out logits.",
    why="An error is the easiest figure to shrink: one number, where thirty layers say another.",
    fix="Let `k3 kvquant` write the rows; do not edit them.",
    blocks=KV_CODEC,
    example=Example(bad="an error of 0.002, the layers give 0.02", good="an error of 0.02, as the layers give"),
    thresholds=(FIGURE_TOLERANCE,),
)
def kvquant_arithmetic(view: ReportView) -> Iterator[Finding]:
    """A row contradicts its layers, its streams or the oracle's row."""
    result = view.report.kv_quant
    if result is None or (view.imported and not result.oracle):
        return
    oracle = {row.sample: row for row in result.oracle}
    yield from _oracle(result)
    captured = {energy.layer for row in result.oracle[:1] for energy in row.energies}
    for arm in result.arms:
        if not view.imported:
            yield from _described(arm, captured)
        for row in arm.samples:
            yield from _row(arm, row, oracle.get(row.sample))


def _described(arm: CodecArm, captured: set[int]) -> Iterator[Finding]:
    """Whether the arm is what it is called, and took the path it names: who is compared with whom hangs on both."""
    whole = arm.layers is None or not captured or set(arm.layers) == captured
    sides = {arm.codec, arm.codec_k or arm.codec, arm.codec_v or arm.codec}
    if arm.name in (IDENTITY, AFFINE_4) and (sides != {arm.name} or arm.path == "runtime" or not whole):
        layers = captured if arm.layers is None else arm.layers
        found = f"{' / '.join(sorted(sides))} in {len(layers)} layers, {arm.path}"
        message = f"{arm.name}: is {found}; it must be that codec in all {len(captured)}, injected"
        yield Finding(message, arm.name, None, "codec", found[:80], arm.name)
    resident = sum(row.resident_bytes is not None for row in arm.samples)
    if resident != (len(arm.samples) if arm.path == "runtime" else 0):
        message = f"{arm.name}: path {arm.path}, and {resident} of {len(arm.samples)} rows tell the bytes of a runtime"
        yield Finding(message, arm.name, None, "path", str(arm.path), "what its rows are of")


def _oracle(result: KvQuantResult) -> Iterator[Finding]:
    rows = result.oracle
    if not rows:
        message = "kv_quant.oracle: no rows of the verifier itself; what its streams and energies are is not known"
        yield Finding(message, field="kv_quant.oracle", found="0", allowed="a row a sample", severity="withheld")
        return
    recall = sum(row.correct for row in rows) / len(rows)
    if result.oracle_recall != recall:
        message = f"kv_quant.oracle_recall: {result.oracle_recall} is stated, the oracle's rows give {recall:.4g}"
        yield Finding(message, field="oracle_recall", found=str(result.oracle_recall), allowed=f"{recall:.4g}")
    for row in rows:
        least = min((min(energy.k, energy.v) for energy in row.energies), default=0.0)
        if least <= 0 or row.decode_s <= 0 or not row.token_ids:
            message = f"oracle, sample {row.sample}: no energy, no time or no tokens; nothing was measured"
            yield Finding(message, "oracle", row.sample, "energies", f"{least:.3g}", "above 0")


def _row(arm: CodecArm, row: CodecSample, oracle: OracleSample | None) -> Iterator[Finding]:
    where = f"{arm.name}, sample {row.sample}"
    lacking = [name for name in _RECORDED if not getattr(row, name)]
    if lacking or oracle is None:
        missing = ", ".join(lacking) or "the oracle's row of this sample"
        yield Finding(f"{where}: {missing} not recorded", arm.name, row.sample, (lacking or ["oracle"])[0], "none",
                      "recorded", severity="withheld")  # fmt: skip
        return
    from reports.records.codec_rows import weighted_errors

    weighted = weighted_errors(row.layers, oracle.energies)
    for field, stated, derived in (
        ("relative_error_k", row.relative_error_k, weighted[0] if weighted is not None else None),
        ("relative_error_v", row.relative_error_v, weighted[1] if weighted is not None else None),
    ):
        if stated is None or derived is None or abs(stated - derived) > FIGURE_TOLERANCE.value * abs(derived):
            shown, allowed = (f"{value:.6g}" if value is not None else "none" for value in (stated, derived))
            message = f"{where}: {field} is stated as {shown}, its layers give {allowed}"
            yield Finding(message, arm.name, row.sample, field, shown, allowed)
    yield from _same(arm, row.sample, "token_ids_equal_oracle", row.token_ids_equal_oracle, row.token_ids, oracle)
    second = row.second
    if second is not None:
        yield from _same(arm, row.sample, "second.token_ids_equal_oracle", second.token_ids_equal_oracle,
                         second.token_ids, oracle.second)  # fmt: skip
    for field, found, allowed in _impossible(row):
        yield Finding(f"{where}: {field} is {found}, it can be {allowed}", arm.name, row.sample, field, found, allowed)


def _same(
    arm: CodecArm,
    sample: int,
    field: str,
    stated: bool | None,
    tokens: tuple[int, ...] | None,
    oracle: OracleSample | SecondQuestion,
) -> Iterator[Finding]:
    equal = tokens == oracle.token_ids
    if stated is not equal:
        found, allowed = str(stated).lower(), str(equal).lower()
        message = f"{arm.name}, sample {sample}: {field} is stated as {found}, the tokens say {allowed}"
        yield Finding(message, arm.name, sample, field, found, allowed)


def _impossible(row: CodecSample) -> Iterator[tuple[str, str, str]]:
    """Field, figure and what it can be, of every figure that no run can give."""
    for layer in row.layers:
        least = min(layer.k, layer.v, layer.attention or 0.0, layer.k_before_rope or 0.0)
        if least < 0:
            yield f"layers.{layer.layer}", f"{least:.3g}", "0 or more"
    held_out = row.held_out
    if held_out is not None and (held_out.kl_divergence < 0 or held_out.tokens < 1):
        yield "held_out.kl_divergence", f"{held_out.kl_divergence:.3g}", "0 or more, over at least one position"
    if held_out is not None and held_out.top1_flips > held_out.tokens:
        yield "held_out.top1_flips", str(held_out.top1_flips), f"at most {held_out.tokens}"
    bits = 8 * (row.stored_bytes or 0) / (row.values or 1)
    if row.entropy_bits is not None and not 0 <= row.entropy_bits <= bits * (1 + FIGURE_TOLERANCE.value):
        yield "entropy_bits", f"{row.entropy_bits:.4g}", f"at most the {bits:.4g} bits a value that are stored"
    if row.resident_bytes is not None and row.resident_bytes < (row.stored_bytes or 0):
        yield "resident_bytes", str(row.resident_bytes), f"at least the {row.stored_bytes} stored"


_RATED = r"(?P<before>.*?\D)(?P<bits>\d{1,2})(?P<after>-g\d+)?"


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
        named = re.fullmatch(_RATED, arm.codec)
        if named is not None and arm.samples and arm.name == arm.codec:
            families.setdefault((named["before"], named["after"] or ""), []).append((int(named["bits"]), arm))
    for family in families.values():
        ordered = [arm for _, arm in sorted(family, key=lambda rated: rated[0])]
        for fewer, more in itertools.pairwise(ordered):
            less, greater = codec_figures(more).error, codec_figures(fewer).error
            if less is not None and greater is not None and less >= greater:
                message = f"{more.name}: errs by {less:.3g}, {fewer.name} with fewer bits by {greater:.3g}"
                yield Finding(message, more.name, None, "relative_error_k", f"{less:.3g}", f"below {greater:.3g}")
