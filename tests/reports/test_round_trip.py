"""What is written is what is read, for any report that the records can hold."""

import json
from datetime import UTC
from pathlib import Path

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.reading.reader import evidence_of
from reports.records.claims import AcceptanceClaim, Interval, MemoryClaim, RecallClaim, SpeedupClaim
from reports.records.measurement import (
    Arm,
    AuditedStream,
    BlockRecord,
    DrafterInfo,
    Measurement,
    Mismatch,
    Restoration,
    Speculation,
    StatedRate,
    StreamAudit,
)
from reports.records.plan import PlanInfo, PromptRecord, Run, WorkloadInfo
from reports.records.provenance import Host, Provenance
from reports.records.verdict import GateBlock, Violation
from reports.report import Report, report_bytes
from reports.schema import report_schema

VALIDATOR = jsonschema.Draft202012Validator(report_schema())

count = st.integers(0, 2**53)
number = st.floats(allow_nan=False, allow_infinity=False)
fraction = st.floats(0, 1)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
name = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
digest = st.binary(min_size=32, max_size=32).map(lambda data: f"sha256:{data.hex()}")


def maybe(strategy):
    return st.none() | strategy


def many(strategy, most=3):
    return st.lists(strategy, max_size=most).map(tuple)


block = st.builds(
    BlockRecord,
    **dict.fromkeys(("drafted", "accepted", "committed"), count),
    **dict.fromkeys(("draft_s", "verify_s", "extend_s", "rollback_s", "seconds"), number),
)
speculation = st.builds(
    Speculation,
    blocks=maybe(count),
    mean_accept_len=maybe(number),
    accept_len_counts=st.sampled_from([None, "committed", "bonus_and_accepted", "accepted"]),
    rounds=maybe(many(block)),
)
row = st.builds(
    Measurement,
    sample=count,
    repeat=count,
    order=maybe(count),
    prompt_digest=maybe(digest),
    token_ids=maybe(many(st.integers(0, 2**31))),
    text=maybe(text),
    correct=maybe(st.booleans()),
    stop_reason=st.sampled_from([None, "eos", "turn_end", "length"]),
    restoration_active=maybe(st.booleans()),
    prefill_s=maybe(number),
    decode_s=maybe(number),
    fallbacks=maybe(many(text)),
    speculation=maybe(speculation),
    stated_decode_tok_s=maybe(number),
)
audit = st.builds(
    StreamAudit,
    reference=st.just("verifier_native"),
    streams=many(
        st.builds(
            AuditedStream,
            sample=count,
            repeat=count,
            tokens_checked=count,
            mismatches=many(
                st.builds(
                    Mismatch, position=count, emitted=st.integers(0, 2**31), argmax=st.integers(0, 2**31), gap=number
                )
            ),
        )
    ),
)
arm = st.builds(
    Arm,
    name=name,
    role=st.sampled_from(["oracle", "null", "sut", "control", "peer"]),
    engine=name,
    restoration=maybe(
        st.builds(
            Restoration,
            mode=st.sampled_from(["none", "identity", "ablate", "f_theta"]),
            exact_layers=maybe(many(count)),
            eviction=st.sampled_from([None, "strict", "after"]),
        )
    ),
    drafter=maybe(st.builds(DrafterInfo, name=name, weights=maybe(digest))),
    measurements=many(row),
    stream_audit=maybe(audit),
    stated_rates=many(
        st.builds(
            StatedRate,
            value=number,
            scope=st.sampled_from(["prefill", "decode", "e2e"]),
            statistic=st.sampled_from(["mean", "median", "total"]),
        )
    ),
)
common = {
    "name": name,
    "value": number,
    "arm": name,
    "baseline": maybe(name),
    "interval": maybe(st.builds(Interval, low=number, high=number, method=st.sampled_from(["bootstrap", "stated"]))),
    "status": st.sampled_from(["claimed", "admitted", "withheld"]),
    "withheld_by": many(name),
}
claim = st.one_of(
    st.builds(
        SpeedupClaim,
        **common,
        metric=st.sampled_from(["decode_speedup", "e2e_speedup"]),
        unit=st.just("x"),
        leave_one_out=maybe(st.tuples(number, number)),
    ),
    st.builds(RecallClaim, **common, metric=st.just("oracle_recall"), unit=st.just("fraction")),
    st.builds(
        MemoryClaim,
        **common,
        metric=st.just("kv_saving"),
        unit=st.just("fraction"),
        basis=st.sampled_from(["measured", "analytic"]),
    ),
    st.builds(
        AcceptanceClaim,
        **common,
        metric=st.just("acceptance"),
        unit=st.just("accepted/drafted"),
        by_position=maybe(many(fraction)),
    ),
)
report = st.builds(
    Report,
    schema_version=st.just(2),
    kind=st.sampled_from(["niah", "code", "parity", "kv_quant"]),
    report_id=st.from_regex(r"\A[A-Za-z0-9._-]{1,128}\Z"),
    created_at=maybe(st.datetimes(timezones=st.just(UTC))),
    imported=st.none(),
    provenance=maybe(st.builds(Provenance, host=maybe(st.builds(Host, os=name, machine=name)), argv=maybe(many(text)))),
    workload=maybe(st.builds(WorkloadInfo, name=name, prompts=many(st.builds(PromptRecord, sample=count)))),
    plan=maybe(st.builds(PlanInfo, order=maybe(many(st.builds(Run, arm=name, sample=count, repeat=count))))),
    arms=many(arm, 2),
    claims=many(claim),
    gate=maybe(
        st.builds(
            GateBlock,
            rule_set=count,
            verdict=st.sampled_from(["admissible", "withheld", "invalid"]),
            violations=many(st.builds(Violation, code=name, message=text)),
        )
    ),
)


@given(report)
def test_a_written_report_is_read_back_the_same(written):
    found = evidence_of(report_bytes(written), Path("x.json"))
    assert found.outcome == written
    assert found.source == "k3"
    assert report_bytes(found.outcome) == report_bytes(written)


@settings(max_examples=30, deadline=None)
@given(report)
def test_the_schema_describes_what_is_written(written):
    VALIDATOR.validate(json.loads(report_bytes(written)))


@given(report)
def test_the_form_of_old_is_read_the_same(written):
    old = json.dumps(written.model_dump(mode="json", exclude_none=True)).encode()
    assert evidence_of(old, Path("x.json")).outcome == written
