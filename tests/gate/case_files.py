"""The bad and the good report of every rule of evidence, plan and claims, made by one edit of an honest report.

`python -m tests.gate.case_files` writes tests/gate/cases/<CODE>/{bad,good}.json again; a test holds the committed files
to what this module makes. The figures of a bad report are derived after the edit, so that nothing else is wrong with
it; no file holds a gate block, so that a new rule does not make the old ones stale.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gate.judging.judge import conclude
from reports.records.measurement import NATIVE_BASELINE_LABEL, Block, Measurement, Mismatch, Restoration
from reports.records.plan import PromptRecord, StopRules
from reports.report import Imported, Report
from tests.gate.edits import (
    asserted,
    edit_arm,
    edit_first_row,
    edit_rows,
    set_claim,
    set_first_row,
    set_plan,
    set_rows,
    set_source,
    set_verifier,
)
from tests.gate.honest import LAYERS, SINK, WINDOW, Setup, measured_code, measured_niah

FOLDER = Path(__file__).parent / "cases"
SMALL = Setup(samples=2, repeats=1, max_new_tokens=12)
FULL = Setup(samples=5, repeats=3, max_new_tokens=34, draft_arms=("native",))


@dataclass(frozen=True)
class CaseFiles:
    """Documents of the two files of a rule."""

    bad: dict[str, Any]
    good: dict[str, Any]


def niah() -> Report:
    """A small needle report, not judged: oracle twice, identity, ablate, needle-free."""
    return measured_niah(SMALL)


def f_theta() -> Report:
    """The same with a projecting arm."""
    return measured_niah(Setup(samples=2, repeats=1, suts=("f_theta",)))


def code() -> Report:
    """A small throughput report with a prompt-lookup arm, not judged."""
    return measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))


def code_of_five() -> Report:
    """The same over as many prompts as a claim about streams needs."""
    return measured_code(Setup(samples=5, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))


def dflash() -> Report:
    """A small throughput report with a model drafter and its parity, not judged."""
    return measured_code(Setup(samples=5, repeats=1, max_new_tokens=12, draft_arms=("dflash",)))


@cache
def throughput() -> Report:
    """A report whose speed-up claim stands: 5 samples in 3 repeats, a native loop that is slower than the oracle.

    Without what no rule of speed asks for, to keep the files small; it may stop at the end of a turn and never does.
    """
    return slim(set_plan(measured_code(FULL), stop=StopRules(eos=True, ignore_turn_stop=False)))


@cache
def drafting() -> Report:
    """The same with an arm that drafts from the text, nearly always rightly: few blocks, a speed-up of 2."""
    arms = ("ngram",)
    return slim(
        measured_code(Setup(max_new_tokens=34, draft_arms=arms, ngram_speedup=2.0, acceptance=0.97, ngram_share=1.0))
    )


def slim(report: Report) -> Report:
    """Without bytes and texts, and for the oracles without the counts of what they never do."""
    unused = ("text", "kv_bytes_prefill", "kv_bytes_decode", "peak_bytes", "evicted_positions")
    idle = ("restoration_active", "restored_positions", "restoration_s", "aux_s", "fallbacks")
    for arm in report.arms:
        names = unused if arm.role == "sut" else (*unused, *idle)
        report = set_rows(report, arm.name, **dict.fromkeys(names))
    return report


def document(report: Report) -> dict[str, Any]:
    """The report as the JSON document of a file."""
    found: dict[str, Any] = report.model_dump(mode="json", exclude_none=True)
    return found


def evidence_case(build: Callable[[], Report], edit: Callable[[Report], Report]) -> CaseFiles:
    """Edited before it is judged; it claims nothing, and its rows are bad all the same."""
    return CaseFiles(bad=document(asserted(conclude(edit(build())))), good=document(asserted(conclude(build()))))


def claim_case(build: Callable[[], Report], edit: Callable[[Report], Report], *claims: str) -> CaseFiles:
    """Edited before it is judged, and the claims made all the same."""
    return CaseFiles(
        bad=document(asserted(conclude(edit(build())), *claims)),
        good=document(asserted(conclude(build()), *claims)),
    )


def after_case(build: Callable[[], Report], edit: Callable[[Report], Report]) -> CaseFiles:
    """Edited after it was judged: what it says of its claims is bad, the rows are sound."""
    good = asserted(conclude(build()))
    return CaseFiles(bad=document(edit(good)), good=document(good))


def raw_case(build: Callable[[], Report], edit: Callable[[dict[str, Any]], None]) -> CaseFiles:
    """Edited as JSON: what no record could hold."""
    good = document(asserted(conclude(build())))
    bad = json.loads(json.dumps(good))
    edit(bad)
    return CaseFiles(bad=bad, good=good)


# --- edits


def mixed(report: Report) -> Report:
    def natively(row: Measurement) -> Measurement:
        e2e_s = (row.e2e_s or 0.0) - (row.restoration_s or 0.0)
        return row.replace(restoration_active=False, restored_positions=0, restoration_s=0.0, e2e_s=e2e_s)

    return edit_first_row(report, "identity", natively)


def one_row_without(name: str, field: str) -> Callable[[Report], Report]:
    return lambda report: set_first_row(report, name, **{field: None})


def dropped(row: Measurement) -> int:
    """(layer, position) pairs outside sink + window."""
    return LAYERS * ((row.prompt_tokens or 0) - SINK - WINDOW)


def idle_blocks(report: Report) -> Report:
    """A fused arm over a restoring cache of which only the restoration ran."""
    donor = next(arm for arm in niah().arms if arm.name == "identity")

    def edit(arm: Any) -> Any:
        rows = tuple(
            row.replace(
                speculation=row.speculation.replace(
                    blocks=0, drafted=0, accepted=0, committed=None, mean_accept_len=0.0, rounds=None,
                    draft_s=0.0, verify_s=0.0, extend_s=0.0, rollback_s=0.0,
                ),
                restoration_active=True, restored_positions=dropped(row), evicted_positions=dropped(row),
                restoration_s=0.5, e2e_s=row.e2e_s + 0.5,
            )
            for row in arm.measurements
        )  # fmt: skip
        return arm.replace(measurements=rows, restoration=donor.restoration)

    return edit_arm(report, "fused_ngram", edit)


def drop_a_repeat(report: Report) -> Report:
    assert report.plan is not None
    short = tuple(run for run in report.plan.order or () if (run.arm, run.sample) != ("ablate", 1))
    places = {(run.arm, run.sample, run.repeat): place for place, run in enumerate(short)}
    arms = tuple(
        arm.replace(
            measurements=tuple(
                row.replace(order=places[arm.name, row.sample, row.repeat])
                for row in arm.measurements
                if (arm.name, row.sample, row.repeat) in places
            )
        )
        for arm in report.arms
    )
    arms = tuple(arm.replace(stream_audit=None) if arm.name == "ablate" else arm for arm in arms)
    return set_plan(report.replace(arms=arms, memory=None), order=short)


def not_drafted(row: Measurement) -> Measurement:
    """One plain step a block, called a block all the same."""
    said = row.speculation
    assert said is not None
    assert said.rounds is not None
    assert row.decode_tokens is not None
    one = said.rounds[0].replace(drafted=0, accepted=0, committed=1, draft_s=0.0, extend_s=0.0, rollback_s=0.0)
    rounds = tuple(one for _ in range(row.decode_tokens))
    decode_s = sum(block.seconds for block in rounds)
    return row.replace(
        speculation=said.replace(
            blocks=len(rounds), drafted=0, accepted=0, committed=len(rounds), mean_accept_len=1.0, rounds=rounds,
            draft_s=0.0, verify_s=one.verify_s * len(rounds), extend_s=0.0, rollback_s=0.0,
        ),
        decode_s=decode_s + row.sample * 1e-6,
        e2e_s=row.prefill_s + row.aux_s + row.restoration_s + decode_s,
        restoration_active=True, restored_positions=dropped(row), evicted_positions=dropped(row),
    )  # fmt: skip


def undrafted(report: Report) -> Report:
    donor = next(arm for arm in niah().arms if arm.name == "identity")
    report = edit_rows(report, "fused_ngram", not_drafted)
    report = edit_rows(
        report, "fused_ngram", lambda row: row.replace(restoration_s=0.5, e2e_s=(row.e2e_s or 0.0) + 0.5)
    )
    return edit_arm(report, "fused_ngram", lambda arm: arm.replace(restoration=donor.restoration))


def projection_idle(report: Report) -> Report:
    """A drafting arm over a projected cache whose projection never ran."""
    mode = Restoration(mode="identity", exact_layers=(), sink=4, window=64, eviction="strict", residency="resident")
    report = edit_rows(report, "fused_ngram", lambda row: row.replace(evicted_positions=dropped(row)))
    return edit_arm(report, "fused_ngram", lambda arm: arm.replace(restoration=mode))


def diverge(report: Report) -> Report:
    def edit(arm: Any) -> Any:
        first = arm.stream_audit.streams[0]
        ids = arm.measurements[0].token_ids
        miss = Mismatch(position=3, emitted=ids[3], argmax=7, gap=2.5)
        streams = (first.replace(mismatches=(miss,)), *arm.stream_audit.streams[1:])
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return edit_arm(report, "fused_ngram", edit)


def audit_elsewhere(report: Report) -> Report:
    def edit(arm: Any) -> Any:
        first = arm.stream_audit.streams[0]
        streams = (first.replace(tokens_checked=first.tokens_checked - 1), *arm.stream_audit.streams[1:])
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return edit_arm(report, "fused_ngram", edit)


def collapse(report: Report) -> Report:
    """The verifier itself collapses on a prompt, so every arm does."""
    for name in ("oracle", "oracle_again", "fused_ngram"):
        report = set_first_row(report, name, text="x = 1\n" + "la " * 12)
    return report


def block_short(row: Measurement) -> Measurement:
    said = row.speculation
    assert said is not None
    assert said.rounds is not None
    first = said.rounds[0]
    rounds = (first.replace(committed=first.accepted + 3), *said.rounds[1:])
    return row.replace(speculation=said.replace(rounds=rounds))


def halve_prefill(row: Measurement) -> Measurement:
    assert row.prefill_s is not None
    return row.replace(prefill_s=row.prefill_s / 2)


def other_prompt(report: Report) -> Report:
    return set_first_row(report, "fused_ngram", prompt_tokens=555)


def same_prompt_twice(report: Report) -> Report:
    """Sample 1 asks what sample 0 asked, everywhere, and the digest is of that."""
    from reports.records.plan import prompts_digest

    assert report.workload is not None
    first = report.workload.prompts[0]
    prompts = tuple(
        prompt.replace(digest=first.digest, token_count=first.token_count) for prompt in report.workload.prompts
    )
    workload = report.workload.replace(prompts=prompts)
    report = report.replace(workload=workload.replace(digest=prompts_digest(workload.prompts)))
    for arm in report.arms:
        asked = {"prompt_digest": first.digest, "prompt_tokens": first.token_count, "kv_bytes_prefill": None}
        report = set_rows(report, arm.name, **asked)
    return report


def stale_digest(report: Report) -> Report:
    assert report.workload is not None
    return report.replace(workload=report.workload.replace(digest="sha256:" + "0" * 64))


def swap_orders(report: Report) -> Report:
    assert report.plan is not None
    order = report.plan.order or ()
    return set_plan(report, order=(order[1], order[0], *order[2:]))


def two_oracles(report: Report) -> Report:
    return edit_arm(report, "oracle_again", lambda arm: arm.replace(role="oracle"))


def copy_times(report: Report) -> Report:
    source = next(arm for arm in report.arms if arm.name == "oracle").measurements[0]
    times = {name: getattr(source, name) for name in ("prefill_s", "decode_s", "e2e_s")}
    return set_first_row(report, "oracle_again", **times)


def one_after_the_other(report: Report) -> Report:
    """The same rows, numbered as if all of one arm had run before the next."""
    assert report.plan is not None
    order = sorted(report.plan.order or (), key=lambda run: (run.arm, run.sample, run.repeat))
    places = {(run.arm, run.sample, run.repeat): place for place, run in enumerate(order)}
    for arm in report.arms:
        name = arm.name
        report = edit_rows(report, name, lambda row, name=name: row.replace(order=places[name, row.sample, row.repeat]))
    return set_plan(report, order=tuple(order))


def stop_short(report: Report) -> Report:
    """Streams of the arm under test end earlier than the oracle's, each after a stop token of its own."""
    return edit_rows(report, "native", lambda row: row.replace(stop_reason="turn_end"))


def unfaithful(report: Report) -> Report:
    assert report.provenance is not None
    checked = report.provenance.models[0].faithfulness
    assert checked is not None
    return set_verifier(report, faithfulness=checked.replace(argmax_agreement=0.961, largest_logit_gap=14.7))


def fewer_bytes(report: Report) -> Report:
    return edit_first_row(
        report, "oracle_again", lambda row: row.replace(kv_bytes_prefill=(row.kv_bytes_prefill or 0) - 1024)
    )


def boast(report: Report) -> Report:
    return edit_arm(report, "identity", lambda arm: arm.replace(system_under_test="k3 incremental, 5x faster"))


def native_loop(report: Report) -> Report:
    """The incremental engine, said to decode with the loop of another."""
    report = set_rows(report, "identity", decode_loop="native_step")
    return edit_arm(report, "identity", lambda arm: arm.replace(decode_loop="native_step"))


def halve_table(report: Report) -> Report:
    """The table of the control says that half its bytes were measured."""
    assert report.memory is not None
    tables = tuple(
        table.replace(measured_bytes=(table.measured_bytes or 0) // 2) if table.arm == "ablate" else table
        for table in report.memory.arms
    )
    return report.replace(memory=report.memory.replace(arms=tables))


def asked_for_more(report: Report) -> Report:
    assert report.preset is not None
    return report.replace(preset=report.preset.replace(overrides=("samples=500",)))


def deeper(report: Report) -> Report:
    """A needle said to lie in the middle of its prompt."""
    assert report.workload is not None
    first, *others = report.workload.prompts
    return report.replace(workload=report.workload.replace(prompts=(first.replace(needle_depth=0.99), *others)))


def relabel(report: Report) -> Report:
    """The native loop, presented as the system under test."""
    return edit_arm(report, "native", lambda arm: arm.replace(system_under_test="k3 fused"))


def native_baseline() -> Report:
    """A needle report whose system under test is a loop over the native cache, labelled as one."""
    return measured_niah(Setup(samples=2, repeats=1, suts=("native",)))


def forge_claim(report: Report) -> Report:
    return set_claim(report, "decode_speedup/fused_ngram", value=50.0)


def by_output_tokens(report: Report) -> Report:
    """Accepted drafts over emitted tokens, called acceptance."""
    rows = next(arm for arm in report.arms if arm.name == "fused_ngram").measurements
    said = [row.speculation for row in rows if row.speculation is not None]
    value = sum(one.accepted or 0 for one in said) / sum(one.committed or 0 for one in said)
    return set_claim(report, "acceptance/fused_ngram", value=value, denominator="output_tokens")


def foreign(report: Report) -> Report:
    """The same rows, as if another tool had measured them and recorded everything."""
    return report.replace(imported=Imported(importer="dflash-mlx", original_digest="sha256:" + "1" * 64))


def needle_report() -> Report:
    """A needle report of five samples, whose recall by restoration stands."""
    return measured_niah(Setup(samples=5, repeats=1))


def needle_in_window(report: Report) -> Report:
    """A needle within the window of the question, in the first prompt."""
    assert report.workload is not None

    def near(prompt: PromptRecord) -> PromptRecord:
        assert prompt.question_first is not None
        first = prompt.question_first - 40
        depth = first / (prompt.token_count or 1)
        return prompt.replace(needle_first=first, needle_last=first + 12, needle_depth=depth)

    prompts = tuple(
        near(prompt) if (prompt.sample, prompt.prompt_set) == (0, "main") else prompt
        for prompt in report.workload.prompts
    )
    return report.replace(workload=report.workload.replace(prompts=prompts))


def fewer_drafts(row: Measurement) -> Measurement:
    """The drafts behind the first wrong one of a block, left out of the count."""
    said = row.speculation
    assert said is not None
    assert said.rounds is not None
    block = said.rounds[0]
    rounds = (block.replace(drafted=block.accepted), *said.rounds[1:])
    return row.replace(
        speculation=said.replace(rounds=rounds, drafted=sum(one.drafted for one in rounds)),
    )


def borrowed_label(report: Report) -> Report:
    """A restoring arm that is called a native baseline."""
    return edit_arm(report, "identity", lambda arm: arm.replace(system_under_test=NATIVE_BASELINE_LABEL))


def halve_decode(name: str) -> Callable[[Report], Report]:
    """All decode times of an arm divided by two, and the end-to-end times made to fit."""

    def half(row: Measurement) -> Measurement:
        seconds = (row.decode_s or 0.0) / 2
        return row.replace(decode_s=seconds, e2e_s=(row.e2e_s or 0.0) - seconds)

    return lambda report: edit_rows(report, name, half)


def too_fast(report: Report) -> Report:
    """Every block of the drafting arm in a quarter of its time, next to all of it verification."""

    def quarter(row: Measurement) -> Measurement:
        said = row.speculation
        assert said is not None
        assert said.rounds is not None
        rounds = tuple(_quarter_of(block) for block in said.rounds)
        names = ("draft_s", "verify_s", "extend_s", "rollback_s")
        totals = {name: round(sum(getattr(block, name) for block in rounds), 6) for name in names}
        seconds = round(sum(block.seconds for block in rounds), 6)
        return row.replace(
            decode_s=seconds,
            e2e_s=(row.e2e_s or 0.0) - (row.decode_s or 0.0) + seconds,
            speculation=said.replace(rounds=rounds, **totals),
        )

    return edit_rows(report, "fused_ngram", quarter)


def _quarter_of(block: Block) -> Block:
    seconds = round(block.seconds * 0.272, 5)
    stages = {"draft_s": 0.02, "verify_s": 0.96, "extend_s": 0.01, "rollback_s": 0.01}
    return block.replace(seconds=seconds, **{name: round(seconds * share, 6) for name, share in stages.items()})


def third_of_prefill(report: Report) -> Report:
    """The native loop reads its prompts three times as fast as the oracle reads the same ones."""

    def third(row: Measurement) -> Measurement:
        seconds = (row.prefill_s or 0.0) / 3
        return row.replace(prefill_s=seconds, e2e_s=seconds + (row.decode_s or 0.0))

    return edit_rows(report, "native", third)


def several() -> Report:
    """Six rows an arm, of plain arms."""
    return measured_code(Setup(samples=3, repeats=2, max_new_tokens=12, draft_arms=("native",)))


def one_factor(report: Report) -> Report:
    """The oracle again takes the oracle's times, a hundredth longer."""
    source = {(row.sample, row.repeat): row for row in report.arms[0].measurements}

    def edit(row: Measurement) -> Measurement:
        other = source[row.sample, row.repeat]
        names = ("prefill_s", "decode_s", "e2e_s")
        return row.replace(**{name: round((getattr(other, name) or 0.0) * 1.01, 6) for name in names})

    return edit_rows(report, "oracle_again", edit)


def half_evicted(report: Report) -> Report:
    """A row that evicted and restored half of what its bounds make it evict."""
    half = dropped(next(arm for arm in report.arms if arm.name == "identity").measurements[0]) // 2
    return set_first_row(report, "identity", evicted_positions=half, restored_positions=half)


def whole_cache(report: Report) -> Report:
    """A control that is said to have dropped what its arrays still held."""
    held = report.arms[0].measurements[0].kv_bytes_prefill
    return set_first_row(report, "ablate", kv_bytes_prefill=held)


def long_streams() -> Report:
    """Two prompts, streams of 36 tokens, plain arms."""
    return measured_code(Setup(samples=2, repeats=1, max_new_tokens=36, draft_arms=("native",)))


def same_stream(report: Report) -> Report:
    """Sample 1 says what sample 0 says, in every arm."""
    for arm in report.arms:
        first = arm.measurements[0]
        report = set_rows(report, arm.name, token_ids=first.token_ids, text=first.text)
    return report


def two_ties(report: Report) -> Report:
    """The drafting arm leaves the verifier's choice at a token of each of its streams, by next to nothing."""

    def other(ids: tuple[int, ...]) -> tuple[int, ...]:
        return (*ids[:3], 7, *ids[4:])

    def row(one: Measurement) -> Measurement:
        return one.replace(token_ids=other(one.token_ids or ()), text=f"{one.text}'")

    truth = {one.sample: one.token_ids or () for one in report.arms[0].measurements}

    def edit(arm: Any) -> Any:
        streams = tuple(
            stream.replace(mismatches=(Mismatch(position=3, emitted=7, argmax=truth[stream.sample][3], gap=0.002),))
            for stream in arm.stream_audit.streams
        )
        return arm.replace(stream_audit=arm.stream_audit.replace(streams=streams))

    return edit_arm(edit_rows(report, "fused_ngram", row), "fused_ngram", edit)


def cut_verification(row: Measurement) -> Measurement:
    """Blocks whose verification is billed to drafting."""
    said = row.speculation
    assert said is not None
    assert said.rounds is not None
    rounds = tuple(
        block.replace(verify_s=block.verify_s / 4, draft_s=block.draft_s + block.verify_s / 4 * 3)
        for block in said.rounds
    )
    totals = {name: sum(getattr(block, name) for block in rounds) for name in ("verify_s", "draft_s")}
    return row.replace(speculation=said.replace(rounds=rounds, **totals))


def cases() -> dict[str, CaseFiles]:
    """Every case, by the code of its rule."""
    return {
        "MISSING_STAGE_TIMINGS": evidence_case(niah, one_row_without("identity", "e2e_s")),
        "MISSING_RESTORATION_FLAG": evidence_case(niah, one_row_without("identity", "restoration_active")),
        "MISSING_LIVENESS": evidence_case(code, one_row_without("fused_ngram", "fallbacks")),
        "MIXED_RESTORATION_PATHS": evidence_case(niah, mixed),
        "RESTORATION_COUNTS": evidence_case(niah, lambda r: set_first_row(r, "ablate", restored_positions=16740)),
        "BASELINE_AS_SUT": evidence_case(native_baseline, relabel),
        "FUSED_NEVER_RAN": evidence_case(code, idle_blocks),
        "PROPOSER_NEVER_RAN": evidence_case(code, undrafted),
        "FTHETA_NOT_RUN": evidence_case(code, projection_idle),
        "EVICTION_NEVER_RAN": evidence_case(niah, lambda r: set_first_row(r, "ablate", evicted_positions=0)),
        "SILENT_FALLBACK": evidence_case(
            code, lambda r: set_first_row(r, "fused_ngram", fallbacks=("rollback refused: plain steps",))
        ),
        "STREAM_DIVERGENCE": evidence_case(code, diverge),
        "STREAM_AUDIT_MISMATCH": evidence_case(code, audit_elsewhere),
        "STREAM_UNAUDITED": evidence_case(
            code, lambda r: edit_arm(r, "fused_ngram", lambda arm: arm.replace(stream_audit=None))
        ),
        "OUTPUT_DEGENERATE": evidence_case(code, collapse),
        "BLOCK_ARITHMETIC": evidence_case(code, lambda r: edit_first_row(r, "fused_ngram", block_short)),
        "STAGE_ARITHMETIC": evidence_case(code, lambda r: edit_first_row(r, "oracle", halve_prefill)),
        "TOKEN_ARITHMETIC": evidence_case(code, lambda r: set_first_row(r, "oracle", decode_tokens=22)),
        "RUN_INCOMPLETE": evidence_case(niah, drop_a_repeat),
        "RUN_ORDER": evidence_case(niah, swap_orders),
        "DUPLICATE_RECORDS": evidence_case(niah, two_oracles),
        "COPIED_ROWS": evidence_case(niah, copy_times),
        "PROMPT_MISMATCH": evidence_case(code, other_prompt),
        "PROMPT_REPEATED": evidence_case(code, same_prompt_twice),
        "WORKLOAD_DIGEST": evidence_case(niah, stale_digest),
        "KIND_MISMATCH": evidence_case(
            niah, lambda r: edit_arm(r, "ablate", lambda arm: arm.replace(engine="incremental-v2"))
        ),
        "NEEDLE_EXPOSED": claim_case(needle_report, needle_in_window, "restoration_recall/identity"),
        "DRAFTS_VARY": evidence_case(dflash, lambda r: edit_first_row(r, "fused_dflash", fewer_drafts)),
        "TIMES_WITHOUT_NOISE": evidence_case(several, one_factor),
        "EVICTION_ARITHMETIC": evidence_case(niah, half_evicted),
        "KV_BYTES_ARITHMETIC": evidence_case(niah, whole_cache),
        "STREAM_REPEATED": evidence_case(long_streams, same_stream),
        "STREAM_TIES": evidence_case(code, two_ties),
        "SPEEDUP_VERIFY_FAST": claim_case(
            drafting, lambda r: edit_rows(r, "fused_ngram", cut_verification), "decode_speedup/fused_ngram"
        ),
        "SPEEDUP_SAME_WORK": claim_case(throughput, halve_decode("native"), "decode_speedup/native"),
        "KV_BYTES_VARY": evidence_case(niah, fewer_bytes),
        "PROVENANCE_MISSING": evidence_case(niah, lambda r: r.replace(preset=None)),
        "DIRTY_TREE": evidence_case(niah, lambda r: set_source(r, dirty=True)),
        "MODEL_UNIDENTIFIED": evidence_case(niah, lambda r: set_verifier(r, weights=None)),
        "MODEL_UNFAITHFUL": evidence_case(niah, unfaithful),
        "ARMS_NOT_INTERLEAVED": claim_case(code, one_after_the_other, "null_ratio/oracle_again"),
        "EARLY_STOP": claim_case(throughput, stop_short, "decode_speedup/native"),
        "ACCEPTANCE_DENOMINATOR": CaseFiles(
            bad=document(by_output_tokens(asserted(conclude(code_of_five()), "acceptance/fused_ngram"))),
            good=document(asserted(conclude(code_of_five()), "acceptance/fused_ngram")),
        ),
        "STREAM_SAMPLES": CaseFiles(
            bad=document(asserted(conclude(code()), "token_identity/fused_ngram")),
            good=document(asserted(conclude(code_of_five()), "token_identity/fused_ngram")),
        ),
        "IMPORTED_UNVERIFIED": CaseFiles(
            bad=document(foreign(asserted(conclude(niah()), "null_ratio/oracle_again"))),
            good=document(asserted(conclude(niah()), "null_ratio/oracle_again")),
        ),
        "LABEL_CONTRADICTED": evidence_case(niah, borrowed_label),
        "NULL_RATIO_OFF": claim_case(code, halve_decode("oracle_again"), "null_ratio/oracle_again"),
        "SPEEDUP_OVER_ACCEPTANCE": claim_case(drafting, too_fast, "decode_speedup/fused_ngram"),
        "SPEEDUP_PREFILL_UNEQUAL": claim_case(
            throughput, third_of_prefill, "decode_speedup/native", "e2e_speedup/native"
        ),
        "CLAIM_NOT_REPRODUCIBLE": after_case(code, forge_claim),
        "CLAIM_MISLABELLED": after_case(
            code, lambda r: set_claim(r, "null_ratio/oracle_again", name="decode_speedup/oracle_again")
        ),
        "NAME_UNFIT": evidence_case(niah, boast),
        "ENGINE_CONTRADICTED": evidence_case(niah, native_loop),
        "MEMORY_TABLE": evidence_case(niah, halve_table),
        "IMPORT_FIELD": evidence_case(
            code, lambda r: edit_arm(r, "fused_ngram", lambda arm: arm.replace(stated_acceptance=0.86))
        ),
        "BYTES_IMPOSSIBLE": evidence_case(niah, lambda r: set_first_row(r, "identity", peak_bytes=1000)),
        "PLAN_CONTRADICTED": evidence_case(niah, asked_for_more),
        "NEEDLE_ARITHMETIC": evidence_case(niah, deeper),
        "SCHEMA_INVALID": raw_case(niah, lambda d: d["arms"][0]["measurements"][0].update(repeat="0")),
        "LEGACY_SCHEMA": raw_case(niah, lambda d: d.update(schema_version=1)),
        "RETRACTED": raw_case(niah, lambda d: d.update(report_id="niah-smollm2-taken-back")),
    }


def compact(value: Any, depth: int = 0) -> str:
    """JSON with one line a row, prompt or layer: readable, and a third of the size."""
    flat = json.dumps(value, ensure_ascii=False)
    if depth >= 4 or len(flat) < 100 or not value or not isinstance(value, dict | list):
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{pad}{json.dumps(key)}: {compact(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + "\n" + " " * depth + "}"
    return "[\n" + ",\n".join(pad + compact(item, depth + 1) for item in value) + "\n" + " " * depth + "]"


def write_all() -> None:
    """Write every case file anew."""
    for code, files in cases().items():
        folder = FOLDER / code
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "bad.json").write_text(compact(files.bad) + "\n")
        (folder / "good.json").write_text(compact(files.good) + "\n")


if __name__ == "__main__":
    write_all()
