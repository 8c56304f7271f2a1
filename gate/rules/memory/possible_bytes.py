"""Bytes that no machine could have held: a peak under what was in it, more than there is, a cache of another length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, drafts_by_model, evicts, foreign_peer
from gate.rulebook.rule import Example, Fault, Finding, row_finding
from gate.rulebook.thresholds import CACHE_STEP, MEMORY_GAP
from gate.rules.memory.known_cache import KnownCache, known_cache
from reports.known_models import KNOWN_FEATURES, KNOWN_WEIGHTS

if TYPE_CHECKING:
    from reports.records.measurement import Arm, Measurement


@evidence_rule(
    "BYTES_IMPOSSIBLE",
    title="Bytes that cannot have been held",
    catches="A row whose peak is below its K/V bytes or above the machine's memory; a native cache of a model with "
    "full attention only that holds no bytes, or those of another number of positions than the row's tokens; an "
    "oracle that holds other bytes than a verifier whose cache K3 knows makes of its tokens; features of another width "
    "than those of an f_theta that K3 knows; or the "
    "context of a drafter that holds all K/V there is, shrinks, or does not grow with the prompt.",
    why="A saving, and a prefill rate by tokens, rest on lengths and bytes; edited alone, they contradict each other.",
    fix="Sum the bytes of the arrays and read the peak of the allocator, in every row.",
    example=Example(bad="a peak of 1,000 bytes with 29 MB of K/V", good="a peak of 570 MB with 29 MB of K/V"),
    thresholds=(MEMORY_GAP, CACHE_STEP),
)
def bytes_impossible(view: ReportView) -> Iterator[Finding]:
    """Peak, K/V bytes, memory and lengths of a row cannot all be true."""
    if view.imported:
        return
    size, known = _bytes_a_position(view), known_cache(view)
    for arm in view.report.arms:
        for row in arm.measurements:
            faults = [*_peak(view, arm, row), *(_native(view, arm, row, size) if size is not None else ())]
            if known is not None and arm is view.oracle:
                faults += _unlike_known(row, known)
            if faults:
                yield row_finding(arm, row, faults[0])
                break
        yield from _growth(view, arm)
        yield from _features(arm)


def _features(arm: Arm) -> Iterator[Finding]:
    """What an f_theta that K3 knows reads of a position has one width."""
    kept = arm.restoration
    known = KNOWN_FEATURES.get(KNOWN_WEIGHTS.get(kept.weights or "", "")) if kept is not None else None
    if kept is not None and known is not None and kept.feature_bytes not in (None, known):
        message = f"{arm.name}: {kept.feature_bytes} bytes of features a position, those of its f_theta take {known}"
        yield Finding(message, arm.name, None, "restoration.feature_bytes", str(kept.feature_bytes), str(known))


def _growth(view: ReportView, arm: Arm) -> Iterator[Finding]:
    """The context of a longer prompt holds no fewer bytes, and more where a layer keeps it all."""
    rows = [row for row in arm.measurements if row.drafter_bytes_prefill and row.prompt_tokens]
    models = view.report.provenance.models if view.report.provenance is not None else ()
    weights = arm.drafter.weights if arm.drafter is not None else None
    drafter = next((one for one in models if one.role == "drafter" and one.weights == weights), None)
    whole = drafter is not None and "full_attention" in (drafter.layer_types or ())
    ordered = sorted(rows, key=lambda row: (row.prompt_tokens or 0, row.drafter_bytes_prefill or 0))
    length, less = 0, 0
    for row in ordered if drafts_by_model(arm) else ():
        tokens, more = row.prompt_tokens or 0, row.drafter_bytes_prefill or 0
        if more < less or (whole and more == less and tokens - length > CACHE_STEP.value):
            message = f"{arm.name}: its drafter's context holds {more} bytes of {tokens} tokens, and {less} of {length}"
            yield Finding(message, arm.name, row.sample, "drafter_bytes_prefill", str(more), f"over {less}")
            return
        length, less = (tokens, more) if more > less else (length, less)


def _peak(view: ReportView, arm: Arm, row: Measurement) -> Iterator[Fault]:
    host = view.report.provenance.host if view.report.provenance is not None else None
    peak, held = row.peak_bytes, max(row.kv_bytes_prefill or 0, row.kv_bytes_decode or 0)
    if peak is not None and peak < held:
        yield Fault("peak_bytes", f"a peak of {peak} bytes, with {held} of K/V in it", str(peak), f"at least {held}")
    stays = _stays(view, arm, row)
    if stays is not None and row.kv_bytes_decode is not None and row.kv_bytes_decode < stays:
        message = (
            f"{row.kv_bytes_decode} bytes at the end of decode, {row.kv_bytes_prefill} before it, and none evicted"
        )
        yield Fault("kv_bytes_decode", message, str(row.kv_bytes_decode), f"at least {stays}")
    context = row.drafter_bytes_prefill or 0
    if drafts_by_model(arm) and row.kv_bytes_prefill and context >= row.kv_bytes_prefill:
        message = f"{context} of {row.kv_bytes_prefill} bytes are the context of the drafter, none the verifier's"
        yield Fault("drafter_bytes_prefill", message, str(context), f"under {row.kv_bytes_prefill}")
    if peak is not None and host is not None and host.memory is not None and peak > host.memory:
        message = f"a peak of {peak} bytes on a machine with {host.memory}"
        yield Fault("peak_bytes", message, str(peak), f"at most {host.memory}")


def _stays(view: ReportView, arm: Arm, row: Measurement) -> int | None:
    """Bytes at the end of prefill that decoding keeps; none where that is not known. No drafter's context shrinks."""
    if foreign_peer(view, arm):  # a peer's own loop may cut the arrays of its cache down to what it keeps
        return None
    kept = arm.restoration
    stays = kept is None or kept.mode == "none" or kept.residency == "resident" or drafts_by_model(arm)
    return row.kv_bytes_prefill if stays else None


def _bytes_a_position(view: ReportView) -> tuple[float, float] | None:
    """Least and most bytes a position takes, by the oracle's rows alone; none where nothing tells.

    A cache grows in steps, so a row of n tokens holds n to n + `CACHE_STEP` positions: the most bytes a position can
    take is the least of bytes / n over the rows, the least it can take the most of bytes / (n + step). The loop of the
    oracle is up to two tokens ahead of what it has emitted.
    """
    types = view.verifier.layer_types if view.verifier is not None else None
    if not types or set(types) != {"full_attention"} or view.oracle is None:
        return None
    held = [pair for row in view.oracle.measurements for pair in _held(row)]
    if not held:
        return None
    least = max(found / (tokens + CACHE_STEP.value + 2) for found, tokens, _ in held)
    return least, min(found / tokens for found, tokens, _ in held)


def _held(row: Measurement) -> Iterator[tuple[int, int, str]]:
    """Bytes, positions they must have room for, and their field: at the end of prefill and of decode."""
    tokens, decoded = row.prompt_tokens, row.decode_tokens
    if row.kv_bytes_prefill is not None and tokens:
        yield row.kv_bytes_prefill, tokens, "kv_bytes_prefill"
    # The K/V of the last token is never computed, and what was rolled back need not be there.
    if row.kv_bytes_decode is not None and tokens and decoded:
        yield row.kv_bytes_decode, tokens + decoded - 1, "kv_bytes_decode"


def _unlike_known(row: Measurement, known: KnownCache) -> Iterator[Fault]:
    """The oracle's cache is the verifier's own, whatever else the report says."""
    for found, tokens, field in _held(row):
        least, most = known.bounds(tokens)
        if not least <= found <= most:
            allowed = f"{least:.0f} to {most:.0f}"
            message = f"{found} bytes for {tokens} positions; this verifier holds {allowed}"
            yield Fault(field, message, str(found), allowed)


def _native(view: ReportView, arm: Arm, row: Measurement, size: tuple[float, float]) -> Iterator[Fault]:
    if evicts(arm):
        return
    least, most = size
    for found, tokens, field in _held(row):
        if arm is view.oracle and (least > most or found == 0):
            message = f"{found} bytes for {tokens} positions; other rows of {arm.name} take another size a position"
            yield Fault(field, message, str(found), f"{least:.0f} bytes a position at least, {most:.0f} at most")
        elif found < least * tokens * (1 - MEMORY_GAP.value):
            message = f"{found} bytes for {tokens} positions, of which {view.oracle.name if view.oracle else ''} takes "
            yield Fault(field, f"{message}{least:.0f} bytes each", str(found), f"at least {least * tokens:.0f}")
