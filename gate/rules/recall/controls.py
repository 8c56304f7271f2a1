"""What makes a control the right one: the same prompts, the same eviction; and prompts without a needle."""

from collections.abc import Iterator

from gate.rulebook.report_view import ReportView, drafts
from gate.rulebook.rule import Finding
from gate.rulebook.thresholds import Threshold
from gate.rules.streams.greedy import audit_of
from reports.records.measurement import Arm, Measurement

EVICTION_GAP = Threshold(
    "EVICTION_GAP",
    0.05,
    "relative distance",
    meaning="Between the evictions of an arm and of its control, by position that left the window.",
    source="a choice: streams of unequal length end differently",
)

NEEDLE_FREE_RECALL_CEILING = Threshold(
    "NEEDLE_FREE_RECALL_CEILING",
    0.0,
    "share of rows",
    meaning="Rows without a needle that may say its code.",
    source="a code recalled from a haystack without it was not recalled",
)

NEEDLE_FREE_LENGTH = Threshold(
    "NEEDLE_FREE_LENGTH",
    0.1,
    "relative distance",
    meaning="Between the lengths of a prompt and of its needle-free twin.",
    source="they differ by one line",
)

NEEDLE_FREE_LENGTH_TOKENS = Threshold(
    "NEEDLE_FREE_LENGTH_TOKENS", 32, "tokens", meaning="The same for short prompts.", source="they differ by one line"
)


def right_control_faults(arm: Arm, control: Arm) -> Iterator[Finding]:
    """Where an ablated control did not run the arm's prompts, was not audited, or did not evict what the arm evicts."""
    theirs = {row.sample: row for row in control.measurements}
    seen: set[int] = set()
    for row in arm.measurements:
        if row.sample in seen:
            continue
        seen.add(row.sample)
        twin = theirs.get(row.sample)
        if twin is None or twin.prompt_digest is None or twin.prompt_digest != row.prompt_digest:
            how = "did not run" if twin is None else "is not known to have run"
            yield Finding(
                f"{control.name}: {how} the prompt of {arm.name}'s sample {row.sample}",
                arm=control.name,
                sample=row.sample,
                field="prompt_digest",
                found=str(twin.prompt_digest)[:23] if twin is not None else "no row",
                allowed=str(row.prompt_digest)[:23],
            )
            return
        if audit_of(control, twin) is None:
            message = f"{control.name}, sample {row.sample}: its stream was not audited; whether it failed is not known"
            yield Finding(message, control.name, row.sample, "stream_audit", "none", "an audit")
            return
        ours, other = _evicting_layers(arm, row), _evicting_layers(control, twin)
        if ours is None or other is None or abs(ours - other) > EVICTION_GAP.value * ours:
            yield Finding(
                f"{control.name}, sample {row.sample}: evicted {twin.evicted_positions} positions, {arm.name} "
                f"{row.evicted_positions}; the control evicts the same",
                arm=control.name,
                sample=row.sample,
                field="evicted_positions",
                found=str(twin.evicted_positions),
                allowed=str(row.evicted_positions),
            )
            return


def _evicting_layers(arm: Arm, row: Measurement) -> float | None:
    """Evicted (layer, position) pairs over the positions that left sink + window: how many layers dropped them.

    Positions are those of the prompt and of the tokens decoded after it, so that streams of unequal length compare.
    """
    kept = arm.restoration
    if kept is None or kept.sink is None or kept.window is None:
        return None
    if row.evicted_positions is None or row.prompt_tokens is None or row.decode_tokens is None:
        return None
    left = row.prompt_tokens + row.decode_tokens - kept.sink - kept.window
    return row.evicted_positions / left if left > 0 else None


def needle_free_faults(view: ReportView, arm: Arm, free: Arm) -> Iterator[Finding]:
    """Where the needle-free control is not the oracle on the arm's haystacks without needles, or says a code."""
    if view.oracle is not None and (free.engine != view.oracle.engine or not _plain(free)):
        message = f"{free.name}: is not the verifier alone, decoded as {view.oracle.name} is"
        yield Finding(message, free.name, field="engine", found=free.engine, allowed=view.oracle.engine)
        return
    rows: dict[int, list[Measurement]] = {}
    for row in free.measurements:
        rows.setdefault(row.sample, []).append(row)
    for sample in sorted({row.sample for row in arm.measurements}):
        fault = _sample_fault(view, arm, sample, rows.get(sample, []))
        if fault is not None:
            message, field, found, allowed = fault
            yield Finding(f"{free.name}, sample {sample}: {message}", free.name, sample, field, found, allowed)
            return


def _plain(arm: Arm) -> bool:
    return not drafts(arm) and (arm.restoration is None or arm.restoration.mode == "none")


def _sample_fault(view: ReportView, arm: Arm, sample: int, rows: list[Measurement]) -> tuple[str, str, str, str] | None:
    """Message, field, found, allowed of the first fault with one needle-free prompt."""
    main, twin = view.prompts.get((arm.prompt_set, sample)), view.prompts.get(("needle_free", sample))
    if not rows or not all(row.text is not None and row.token_ids for row in rows):
        return "no row with a text; the haystack was not asked without its needle", "text", "none", "a text"
    if main is None or twin is None or not main.digest or not twin.digest or not main.answer:
        return "the prompt, its needle-free twin or the answer is not recorded", "workload.prompts", "none", "both"
    if twin.digest == main.digest or any(row.prompt_digest != twin.digest for row in rows):
        return "ran a prompt that is not the needle-free one", "prompt_digest", main.digest[:23], twin.digest[:23]
    ours, theirs = main.token_count, twin.token_count
    if (
        ours is None
        or theirs is None
        or abs(ours - theirs) > max(NEEDLE_FREE_LENGTH_TOKENS.value, NEEDLE_FREE_LENGTH.value * ours)
    ):
        return f"a prompt of {theirs} tokens, with the needle {ours}", "prompt_tokens", str(theirs), f"about {ours}"
    said = [row for row in rows if main.answer.casefold() in (row.text or "").casefold()]
    share = len(said) / len(rows)
    if share > NEEDLE_FREE_RECALL_CEILING.value:
        return f"says {main.answer} though no needle is in its prompt", "text", f"{share:.3g}", "0"
    return None
