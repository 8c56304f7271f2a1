"""How much a timed run could write down, of what can be read again: told before it runs, not after its last row."""

from functools import lru_cache

from harness.plans.preset import TimedPreset
from reports.journal import MOST_LINES, MeasuredRow
from reports.records.measurement import BlockRecord, Measurement, Speculation
from reports.untrusted.files import MAX_BYTES
from reports.untrusted.strict_json import MAX_OBJECTS, MAX_VALUES, values_in

BYTES_A_TOKEN = 6
"""Of its text, escapes included."""
AUDIT_VALUES = 20
"""Of the audit of a stream without a mismatch, its line and the row's place in the plan's order included."""
LOWERED = (("max_new_tokens", 64), ("samples", 6), ("repeats", 1), ("processes", 1))
"""Settings that make a report smaller, the best to lower first, each with the least that it is worth having."""


def share_of_room(preset: TimedPreset) -> float:
    """The journal and the report of a run, at their largest, over what may be read; over 1 is too much.

    The largest is that of streams that take all tokens they may, in blocks of one token, as a drafter has that is never
    right. Each row is in the journal with its whole stream; the report shares streams, and so has more objects only.
    """
    once = preset.samples * preset.largest
    drafting = [False, False, *(arm.drafter is not None for arm in preset.arms)]
    rows = [(once * preset.repeats + preset.largest, drafts) for drafts in drafting]
    if preset.kind == "niah":
        rows.append((once + preset.largest, False))
    sizes = {drafts: _row(preset.max_new_tokens, drafts) for drafts in (False, True)}
    audits, lines = len(rows) * once, sum(count for count, _ in rows)
    return max(
        (sum(count * sizes[drafts][0] for count, drafts in rows) + AUDIT_VALUES * audits) / MAX_VALUES,
        sum(count * sizes[drafts][1] for count, drafts in rows) / MAX_BYTES,
        (lines + audits) / MOST_LINES,
        (sum(count * (3 if drafts else 1) for count, drafts in rows) + 2 * audits) / MAX_OBJECTS,
    )


def fitting(preset: TimedPreset) -> tuple[str, int] | None:
    """A setting that could be lowered, and the most it may be then; none if no one setting alone is enough."""
    for name, least in LOWERED:
        fits, too_much = least, getattr(preset, name)
        if too_much <= least or share_of_room(preset.replace(**{name: least})) > 1:
            continue
        while too_much - fits > 1:
            middle = (fits + too_much) // 2
            fits, too_much = (
                (fits, middle) if share_of_room(preset.replace(**{name: middle})) > 1 else (middle, too_much)
            )
        return name, fits
    return None


@lru_cache(maxsize=64)
def _row(tokens: int, drafts: bool) -> tuple[int, int]:
    """Values and bytes of the line of a row with so many tokens, a block each if it drafts."""
    second = 1.234567
    block = BlockRecord(
        drafted=16, accepted=0, committed=1, draft_s=second, verify_s=second, extend_s=second, rollback_s=second,
        seconds=second,
    )  # fmt: skip
    many = 10_000_000
    said = Speculation(
        blocks=tokens, drafted=many, accepted=many, committed=tokens, draft_s=second, verify_s=second, extend_s=second,
        rollback_s=second, rounds=(block,) * tokens,
    )  # fmt: skip
    row = Measurement(
        sample=999, repeat=49, process=19, order=99_999, prompt_digest="sha256:" + "0" * 64, prompt_tokens=many,
        token_ids=(262_143,) * tokens, text="x" * (BYTES_A_TOKEN * tokens), correct=False, stop_reason="turn_end",
        restoration_active=False, restored_positions=many, evicted_positions=many, restoration_s=second, aux_s=second,
        prefill_s=second, decode_s=second, e2e_s=second, decode_tokens=tokens, kv_bytes_prefill=many * many,
        kv_bytes_decode=many * many, drafter_bytes_prefill=many * many, peak_bytes=many * many, fallbacks=(),
        decode_loop="speculative_generate_step", speculation=said if drafts else None,
    )  # fmt: skip
    line = MeasuredRow(arm="a" * 40, row=row).model_dump_json(exclude_none=True).encode()
    return values_in(line), len(line)
