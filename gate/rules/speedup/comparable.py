"""A speed-up is a ratio of two things that may be compared: different computations, timed alike, long enough."""

import statistics
from collections.abc import Iterator

from gate.claims.against_baseline import ratio_of, sides
from gate.figures.liveness import ran_natively
from gate.figures.paired_ratios import prompt_of
from gate.figures.rates import decode_rate, median_of, prefill_seconds_a_token
from gate.rulebook.registry import claim_rule
from gate.rulebook.report_view import ReportView, decode_loops, drafts, restores
from gate.rulebook.rule import SPEEDUP, Example, Finding
from gate.rulebook.thresholds import MIN_DECODE_TOKENS, RESTORATION_S_PER_POSITION, Threshold
from reports.records.claims import Claim, SpeedupClaim
from reports.records.measurement import NATIVE_BASELINE_LABEL, Arm

LOOP = "generate_step"


@claim_rule(
    "SPEEDUP_SELF_COMPARISON",
    title="The arm is the oracle's own computation",
    catches="A speed-up of an arm that neither restored, evicted nor drafted in any row: it ran what the oracle ran.",
    why="The first published 2.58x compared a model with itself; the ratio was the noise of prefill.",
    fix=f"Make the engine do what the arm says. A loop of one's own over the native cache is labelled "
    f"`{NATIVE_BASELINE_LABEL}` and records a decode loop other than the oracle's.",
    blocks=SPEEDUP,
    example=Example(
        bad="an arm that runs the oracle's own loop, claimed 1.2x", good="the same ratio reported as the A/A band"
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def self_comparison(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Nothing ran in the arm that the baseline does not do."""
    arm, baseline = view.arms.get(claim.arm), view.arms.get(claim.baseline or "")
    if arm is None or baseline is None:
        return
    if arm is baseline:
        yield Finding(f"{arm.name}: compared with itself", arm.name, field="claims.baseline", found=arm.name)
        return
    as_configured = arm.engine == baseline.engine and _plain(arm)
    if not (as_configured or (ran_natively(arm) and not _foreign_peer(arm, baseline))):
        return
    loops = decode_loops(arm), decode_loops(baseline)
    if arm.system_under_test == NATIVE_BASELINE_LABEL and None not in loops[0] | loops[1] and not loops[0] & loops[1]:
        return
    yield Finding(
        f"{arm.name}: 0 of {len(arm.measurements)} rows restored, evicted or drafted; it is {baseline.name}'s own "
        "computation",
        arm=arm.name,
        field="measurements",
        found="0 rows",
        allowed="at least 1",
    )


def _plain(arm: Arm) -> bool:
    return not drafts(arm) and (arm.restoration is None or arm.restoration.mode == "none")


def _foreign_peer(arm: Arm, baseline: Arm) -> bool:
    """Another engine, presented as such, may do the same computation and be faster at it."""
    return arm.role == "peer" and arm.engine != baseline.engine


MIN_SPEEDUP_SAMPLES = Threshold(
    "MIN_SPEEDUP_SAMPLES",
    5,
    "prompts",
    meaning="Distinct prompts that an arm needs before a ratio is printed.",
    source="the smoke that became a headline had one",
)


@claim_rule(
    "SPEEDUP_SAMPLES",
    title="Too few prompts for a ratio",
    catches=f"Fewer than {MIN_SPEEDUP_SAMPLES.value} distinct prompts in the arm or its baseline.",
    why="The smoke that became a headline had n=1; one prompt run three times was called n=3.",
    fix="Measure more prompts. Repeats of one prompt are repeats, whatever their sample numbers.",
    blocks=SPEEDUP,
    example=Example(bad="one prompt, repeated three times", good="5 distinct prompts, 3 repeats each"),
    thresholds=(MIN_SPEEDUP_SAMPLES,),
)
def samples(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """Fewer than five distinct prompts."""
    for arm in sides(view, claim) or ():
        found = len(set(prompt_of(arm.measurements).values()))
        if found < MIN_SPEEDUP_SAMPLES.value:
            yield Finding(
                f"{arm.name}: {found} distinct prompt{'s' if found != 1 else ''}; a ratio needs at least "
                f"{MIN_SPEEDUP_SAMPLES.value}",
                arm=arm.name,
                field="prompt_digest",
                found=str(found),
                allowed=f"at least {MIN_SPEEDUP_SAMPLES.value}",
            )


@claim_rule(
    "SPEEDUP_DECODE_TOKENS",
    title="Streams too short to time",
    catches=f"A median of fewer than {MIN_DECODE_TOKENS.value} decode tokens in the arm or its baseline, or rows "
    "that do not record them.",
    why="Eight tokens take half a second; what is measured is how decoding starts.",
    fix="Decode the full budget (`ignore_turn_stop`) with at least 33 new tokens.",
    blocks=SPEEDUP,
    example=Example(bad="median of 8 decode tokens", good="median of 128 decode tokens"),
    thresholds=(MIN_DECODE_TOKENS,),
)
def decode_tokens(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The median stream is too short."""
    for arm in sides(view, claim) or ():
        found = median_of(row.decode_tokens for row in arm.measurements)
        if found is None or found < MIN_DECODE_TOKENS.value:
            shown = f"a median of {found:g}" if found is not None else "an unknown number of"
            yield Finding(
                f"{arm.name}: {shown} decode tokens; a ratio needs at least {MIN_DECODE_TOKENS.value}",
                arm=arm.name,
                field="decode_tokens",
                found=f"{found:g}" if found is not None else "none",
                allowed=f"at least {MIN_DECODE_TOKENS.value}",
            )


@claim_rule(
    "SPEEDUP_DECODE_ONLY_MISSING",
    title="A ratio without decode-only figures",
    catches="Rows of the arm or its baseline without decode seconds and tokens, or an end-to-end ratio that stands "
    "without the decode-only one beside it.",
    why="End to end, prefill decides: 21 s against 146 s for the same work made 2.58x.",
    fix="Time prefill and decode apart in every row, and claim the decode-only ratio beside any other.",
    blocks=SPEEDUP,
    example=Example(bad="a ratio of end-to-end times", good="a ratio of decode tok/s, prefill left out"),
)
def decode_only_missing(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The decode-only ratio cannot be derived, or is not stated."""
    for arm in sides(view, claim) or ():
        lacking = [row for row in arm.measurements if decode_rate(row) is None]
        if lacking or not arm.measurements:
            yield Finding(
                f"{arm.name}: {len(lacking)} of {len(arm.measurements)} rows lack decode seconds or tokens",
                arm=arm.name,
                sample=lacking[0].sample if lacking else None,
                field="decode_s",
                found=str(len(arm.measurements) - len(lacking)),
                allowed="every row",
            )
    beside = [
        other
        for other in view.report.claims
        if other.metric == "decode_speedup" and (other.arm, other.baseline) == (claim.arm, claim.baseline)
    ]
    if isinstance(claim, SpeedupClaim) and claim.metric == "e2e_speedup" and not beside:
        yield Finding(
            f"{claim.arm}: an end-to-end ratio of {claim.value:.4g} is stated without the decode-only one",
            arm=claim.arm,
            field="claims",
            found="e2e_speedup alone",
            allowed="decode_speedup beside it",
        )


@claim_rule(
    "SPEEDUP_PREFILL_LEFT_OUT",
    title="Faster by leaving the prefill out",
    catches="A decode-only speed-up whose rows, prefill included, are slower than the baseline, with no end-to-end "
    "claim beside it.",
    why="A 3.46x was 0.53x once the prefill that made it possible was counted.",
    fix="Claim the end-to-end ratio beside the decode-only one; the reader sees both.",
    blocks=("decode_speedup",),
    example=Example(
        bad="3.46x decode-only, 0.53x with the prefill, and only the first is claimed", good="both ratios are claimed"
    ),
)
def prefill_left_out(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The end-to-end interval lies on the other side of 1 and is not claimed."""
    both = sides(view, claim)
    if both is None or claim.value <= 1:
        return
    whole = ratio_of(view, *both, "e2e_speedup")
    told = any(
        other.metric == "e2e_speedup" and other.arm == claim.arm and (other.status != "withheld" or other.withheld_by)
        for other in view.report.claims
    )
    if whole is not None and whole.high < 1 and not told:
        yield Finding(
            f"{claim.arm}: {claim.value:.4g}x decode-only is {whole.value:.4g}x [{whole.low:.4g}, {whole.high:.4g}] "
            "with the prefill, and that is not claimed",
            arm=claim.arm,
            field="e2e_s",
            found=f"{whole.value:.4g}",
            allowed="at least 1, or claimed beside it",
        )


@claim_rule(
    "SPEEDUP_SCOPE_MISMATCH",
    title="Arms timed over different scopes",
    catches="Arm and baseline whose timing scopes differ or are not recorded (unknown is not equal to unknown).",
    why="One clock that stops before the last token and one that does not measure different things.",
    fix="Time both arms by the same events and record the scope in both.",
    blocks=SPEEDUP,
    example=Example(bad="one arm timed in stages, the other end to end", good="both timed in stages"),
)
def scope_mismatch(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The two scopes are not known to be the same."""
    both = sides(view, claim)
    if both is None:
        return
    ours, theirs = (one.timing_scope for one in both)
    if ours is None or ours != theirs:
        yield Finding(
            f"{both[0].name}: timed over {ours or 'an unrecorded scope'}, {both[1].name} over "
            f"{theirs or 'an unrecorded one'}",
            arm=both[0].name,
            field="timing_scope",
            found=ours or "none",
            allowed=theirs or "a recorded scope",
        )


@claim_rule(
    "SPEEDUP_ORACLE_LOOP",
    title="An oracle that is not the reference loop",
    catches=f"A baseline that was not decoded with `{LOOP}` in every row, or that restores, evicts or drafts.",
    why="Against a naive loop that synchronises on every token, plain decoding is a speed-up.",
    fix=f"Decode the oracle with `mlx_lm.generate.{LOOP}` over the native cache, and record it.",
    blocks=SPEEDUP,
    example=Example(bad="an oracle of an own, slow loop", good="an oracle decoded by generate_step"),
)
def oracle_loop(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The baseline is not the verifier alone in its reference loop."""
    both = sides(view, claim)
    if both is None:
        return
    baseline = both[1]
    if restores(baseline) or not _plain(baseline):
        yield Finding(
            f"{baseline.name}: the baseline restores, evicts or drafts; it must be the verifier alone",
            arm=baseline.name,
            field="restoration",
            found=baseline.restoration.mode if baseline.restoration is not None else baseline.engine,
            allowed="none",
        )
    wrong = sorted({loop or "not recorded" for loop in decode_loops(baseline) if loop != LOOP})
    if wrong:
        yield Finding(
            f"{baseline.name}: its decode loop is {', '.join(wrong)}; it must be {LOOP}",
            arm=baseline.name,
            field="decode_loop",
            found=", ".join(wrong),
            allowed=LOOP,
        )


MAX_PREFILL_SPREAD = Threshold(
    "MAX_PREFILL_SPREAD",
    3.0,
    "ratio",
    meaning="Largest over smallest prefill seconds a token within an arm.",
    source="identical prefills of 35 s and 146 s came from a machine that swapped",
)


@claim_rule(
    "SPEEDUP_PREFILL_VARIANCE",
    title="Prefill times that scatter",
    catches="Prefill seconds a prompt token, the median over a sample's repeats, of which the largest is over "
    f"{MAX_PREFILL_SPREAD.value:g} times the smallest within the arm or its baseline, or rows without them.",
    why="Identical prefills of 35 s and 146 s say that the machine swapped, and so did everything else it timed.",
    fix="Run on an idle machine with room for the model, warmed up over the same shapes.",
    blocks=SPEEDUP,
    example=Example(
        bad="prefill from 21.5 s to 146 s for equal prompts", good="prefill from 20.1 s to 22.7 s for equal prompts"
    ),
    thresholds=(MAX_PREFILL_SPREAD,),
)
def prefill_variance(view: ReportView, claim: Claim) -> Iterator[Finding]:
    """The spread of prefill within an arm, by tokens."""
    for arm in sides(view, claim) or ():
        rates = prefill_seconds_a_token(arm)
        if rates is None:
            message = f"{arm.name}: not every row records prefill seconds and prompt tokens"
            yield Finding(message, arm.name, field="prefill_s", found="none", allowed="every row")
        elif max(rates) > MAX_PREFILL_SPREAD.value * min(rates):
            spread = max(rates) / min(rates) if min(rates) > 0 else float("inf")
            yield Finding(
                f"{arm.name}: prefill took {min(rates) * 1e3:.4g} to {max(rates) * 1e3:.4g} ms a token (median "
                f"{statistics.median(rates) * 1e3:.4g}), {spread:.3g} times as much; at most "
                f"{MAX_PREFILL_SPREAD.value:g}",
                arm=arm.name,
                field="prefill_s",
                found=f"{spread:.3g}",
                allowed=f"at most {MAX_PREFILL_SPREAD.value:g}",
            )
