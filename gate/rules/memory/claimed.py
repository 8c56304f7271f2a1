"""K/V memory: measured bytes decide; a formula counts only where the run held what it says."""

from collections.abc import Iterator

from gate.figures.kv_memory import (
    formula_gap,
    formula_matches_run,
    full_bytes,
    has_context,
    kv_bytes,
    prefill_bytes,
    resident_bytes,
    rows_of,
    table_of,
)
from gate.figures.rates import median_of
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import CACHE_STEP, MEMORY_GAP
from reports.records.claims import Claim, MemoryClaim
from reports.records.kv_memory import ArmMemory
from reports.records.measurement import Arm, Measurement

BLOCKS = ("kv_saving",)


@claim_rule(
    "MEMORY_CLAIM_MISMATCH",
    title="A saving by a formula for a cache the run did not use",
    catches="An analytic saving whose formula is not shown to match the run: no table, no measured bytes, bytes that "
    "differ, or a stated `formula_matches_run` that the bytes do not support.",
    why="89.8 % less memory was a formula for sink + window, in a run that kept everything.",
    fix="Measure K/V bytes in every row and claim the saving measured.",
    blocks=BLOCKS,
    example=Example(
        bad="a saving of sink + window claimed for a run on the native cache",
        good="a table of the cache that the run used",
    ),
    thresholds=(MEMORY_GAP,),
)
def claim_mismatch(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """An analytic saving is claimed and `formula_matches_run`, derived, is not true."""
    arm = view.arms.get(claim.arm)
    if arm is None or not isinstance(claim, MemoryClaim) or claim.basis != "analytic":
        return
    table = table_of(view, arm)
    if table is None:
        message = f"{arm.name}: an analytic saving is claimed without its table"
        yield Finding(message, arm.name, field="memory.arms", found="none", allowed="a table")
        return
    derived = formula_matches_run(arm, table)
    stated = table.formula_matches_run if table.formula_matches_run is not None else table.stated_formula_matches_run
    if derived is not True or stated is False:
        reasons = {
            True: "the report says so itself",
            False: "the measured bytes differ",
            None: "no bytes were measured",
        }
        said = "" if stated is None else f" (stated: {str(stated).lower()})"
        yield Finding(
            f"{arm.name}: formula_matches_run is {_word(derived)} by the rows{said}: {reasons[derived]}",
            arm=arm.name,
            field="formula_matches_run",
            found=_word(derived if derived is not True else stated),
            allowed="true",
        )


def _word(value: bool | None) -> str:
    return "unknown" if value is None else str(value).lower()


@claim_rule(
    "MEMORY_NOT_MEASURED",
    title="A saving nobody measured",
    catches="A memory claim with a row of the arm or of its baseline that lacks K/V bytes at the end of prefill or of "
    "decode, or that does not say which of them are the context of the arm's drafter.",
    why="43.9 times less by formula, while the measured peak rose.",
    fix="Sum the bytes of the K/V arrays at the end of prefill and of decode, in every row of every arm.",
    blocks=BLOCKS,
    example=Example(bad="89.8 % less by formula, no bytes recorded", good="K/V bytes summed from the arrays"),
)
def not_measured(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """K/V bytes are missing."""
    arm, baseline = view.arms.get(claim.arm), _baseline(view, claim)
    if baseline is None:
        message = f"{claim.arm}: there is no arm to save against"
        yield Finding(message, claim.arm, field="claims.baseline", found="none", allowed="the oracle")
    for one in (arm, baseline):
        if one is None:
            continue
        lacking = [row for row in one.measurements if kv_bytes(row) is None]
        if lacking or not one.measurements:
            measured = len(one.measurements) - len(lacking)
            yield Finding(
                f"{one.name}: K/V bytes were measured in {measured} of {len(one.measurements)} rows",
                arm=one.name,
                sample=lacking[0].sample if lacking else None,
                field="kv_bytes_prefill",
                found=str(measured),
                allowed="every row",
            )
        untold = [row for row in one.measurements if not row.drafter_bytes_prefill] if has_context(one) else []
        if untold:
            told = len(one.measurements) - len(untold)
            message = f"{one.name}: the context of its drafter was measured in {told} of {len(one.measurements)} rows"
            yield Finding(message, one.name, untold[0].sample, "drafter_bytes_prefill", str(told), "every row")


def _baseline(view: ReportView, claim: Claim) -> Arm | None:
    return view.arms.get(claim.baseline) if claim.baseline is not None else view.oracle


@claim_rule(
    "MEMORY_ANALYTIC_GAP",
    title="Formula and measurement apart",
    catches=f"A table over {MEMORY_GAP.value:.0%} away from the measured bytes, one that does not add up, is "
    "about another length than the run's, leaves out restored K/V that stay resident, or does not fit what the oracle "
    "held; or no table at all.",
    why="A formula is right about the cache it describes; whether the run had that cache only its bytes can say.",
    fix="Count every position that is resident at the end of prefill, restored ones too, in the table of that prompt.",
    blocks=BLOCKS,
    example=Example(bad="133 MB by formula, 1,309 MB in the arrays", good="133 MB by formula, 134 MB measured"),
    thresholds=(MEMORY_GAP, CACHE_STEP),
)
def analytic_gap(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The table disagrees with itself or with the run."""
    arm = view.arms.get(claim.arm)
    if arm is None:
        return
    table = table_of(view, arm)
    if table is None:
        message = f"{arm.name}: no analytic table to hold its measured bytes to"
        yield Finding(message, arm.name, field="memory.arms", found="none", allowed="a table")
        return
    rows = rows_of(arm, table)
    faults = (
        *table_sums(table),
        *_layers(view, arm, table),
        *_of_run(arm, table, rows),
        *_of_oracle(view, claim, table),
    )
    for message, field, found, allowed in faults:
        yield Finding(f"{arm.name}: {message}", arm.name, table.sample, field, found, allowed)


Fault = tuple[str, str, str, str]
"""Message, field, number found, number allowed."""


def table_sums(table: ArmMemory) -> Iterator[Fault]:
    """Where a table contradicts its own arithmetic."""
    for layer in table.layers:
        product = layer.resident_positions * layer.bytes_per_token
        if layer.resident_bytes != product:
            message = f"layer {layer.layer} holds {layer.resident_bytes} bytes, its positions give {product}"
            yield message, "memory.layers", str(layer.resident_bytes), str(product)
            break
        if layer.resident_positions > table.sequence_length:
            message = f"layer {layer.layer} holds {layer.resident_positions} of {table.sequence_length} positions"
            yield message, "memory.layers", str(layer.resident_positions), f"at most {table.sequence_length}"
            break
    for name, stated, added in (
        ("total_bytes", table.total_bytes, resident_bytes(table)),
        ("full_kv_bytes", table.full_kv_bytes, full_bytes(table)),
    ):
        if stated != added:
            yield f"{name} is {stated}, the layers give {added}", f"memory.{name}", str(stated), str(added)


def _layers(view: ReportView, arm: Arm, table: ArmMemory) -> Iterator[Fault]:
    """What the arm's settings say each layer holds at the least: its own window may bound a sliding layer further."""
    kept, length = arm.restoration, table.sequence_length
    if view.layers is not None and table.layers and len(table.layers) != view.layers:
        message = f"the table has {len(table.layers)} layers, the verifier {view.layers}"
        yield message, "memory.layers", str(len(table.layers)), str(view.layers)
    if kept is None or kept.sink is None or kept.window is None:
        return
    features = (kept.feature_bytes or 0) * length
    if (table.feature_bytes or 0) != features:
        message = f"the table counts {table.feature_bytes or 0} bytes of features, its arm keeps {features}"
        yield message, "memory.feature_bytes", str(table.feature_bytes), str(features)
    bounded = min(length, kept.sink + kept.window) if kept.mode != "none" else length
    for layer in table.layers:
        least = length if layer.layer in (kept.exact_layers or ()) else bounded
        if layer.kind == "full_attention" and layer.resident_positions < least:
            message = f"layer {layer.layer} holds {layer.resident_positions} positions, its settings keep {least}"
            yield message, "memory.layers", str(layer.resident_positions), f"at least {least}"
            break


def _of_run(arm: Arm, table: ArmMemory, rows: list[Measurement]) -> Iterator[Fault]:
    lengths = {row.prompt_tokens for row in rows}
    if lengths != {table.sequence_length}:
        shown = ", ".join(str(length) for length in sorted(filter(None, lengths))) or "none"
        message = f"the table is about {table.sequence_length} positions, the prompt it names has {shown}"
        yield message, "memory.sequence_length", str(table.sequence_length), shown
    restored = max((row.restored_positions or 0 for row in rows), default=0)
    stays = arm.restoration is not None and arm.restoration.residency == "resident"
    most = sum(
        layer.resident_positions if layer.kind == "full_attention" else table.sequence_length for layer in table.layers
    )
    if stays and table.layers and restored > most:
        message = f"{restored} restored positions stay resident, the table has room for {most}"
        yield message, "memory.layers", str(most), f"at least {restored}"
    gap, measured = formula_gap(arm, table), prefill_bytes(arm, table)
    if gap is not None and gap > MEMORY_GAP.value:
        formula = resident_bytes(table)
        message = f"the formula gives {formula} bytes, {measured} were measured: {gap:.1%} apart"
        yield message, "memory.total_bytes", f"{gap:.3g}", f"at most {MEMORY_GAP.value:g}"


def _of_oracle(view: ReportView, claim: Claim, table: ArmMemory) -> Iterator[Fault]:
    """The table's bytes a token are the oracle's own; a saving by formula is against no more than the oracle held."""
    baseline = _baseline(view, claim)
    if not isinstance(claim, MemoryClaim) or baseline is None:
        return
    held, full = prefill_bytes(baseline, table), full_bytes(table)
    roomy = full * (1 + CACHE_STEP.value / max(1, table.sequence_length)) * (1 + MEMORY_GAP.value)
    if held is not None and held > roomy:
        message = f"{baseline.name} held {held} bytes, a full cache of the table's layers is {full}"
        yield message, "memory.full_kv_bytes", str(full), f"about {held}"
    if claim.basis == "analytic" and held is not None and full > held * (1 + MEMORY_GAP.value):
        message = f"the saving is against {full} bytes, {baseline.name} held {held}"
        yield message, "memory.full_kv_bytes", str(full), f"at most {held}"


@claim_rule(
    "MEMORY_PEAK_ROSE",
    title="Less memory, and a higher peak",
    catches="A memory claim of an arm whose peak is above its baseline's: at all, for a saving by formula; by more "
    "than the K/V bytes it saved, for a measured one; or rows that do not record it.",
    why="What was saved in the cache was spent elsewhere; the machine needed more memory, not less.",
    fix="Find what the arm allocates; claim a saving only where the run as a whole has it.",
    blocks=BLOCKS,
    example=Example(bad="K/V 43.9 times smaller, the measured peak rose", good="K/V smaller, and the peak fell too"),
)
def peak_rose(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The peak of the arm rose although its cache shrank."""
    arm, baseline = view.arms.get(claim.arm), _baseline(view, claim)
    if arm is None or baseline is None or not isinstance(claim, MemoryClaim):
        return
    peak, usual = (median_of(row.peak_bytes for row in one.measurements) for one in (arm, baseline))
    held, full = (median_of(kv_bytes(row) for row in one.measurements) for one in (arm, baseline))
    if peak is None or usual is None:
        lacking = arm if peak is None else baseline
        message = f"{lacking.name}: not every row records its peak; whether the run as a whole saved is not known"
        yield Finding(message, lacking.name, field="peak_bytes", found="none", allowed="every row")
        return
    room = full - held if claim.basis == "measured" and held is not None and full is not None else 0.0
    if peak > usual + max(0.0, room):
        yield Finding(
            f"{arm.name}: its peak is {peak / 1e6:.1f} MB, that of {baseline.name} {usual / 1e6:.1f} MB",
            arm=arm.name,
            field="peak_bytes",
            found=f"{peak:.0f}",
            allowed=f"at most {usual + max(0.0, room):.0f}",
        )
