import pytest

from gate.claims.recompute import counted
from gate.figures.replay.confirmed import confirmed
from gate.judging.judge import Headline, conclude, judge
from gate.judging.judged_file import JudgedFile
from gate.judging.replays.beside import Beside, of_replays, unlike_original
from gate.render.headline import headline_line
from gate.render.sentences import sentences
from gate.rulebook.report_view import ReportView
from reports.records.codec_rows import CodecSample, OracleSample
from reports.records.conduct.replay import ReplayedRow
from reports.records.measurement import AuditedStream, Measurement, Mismatch
from reports.records.provenance import Host, Runtime
from reports.report import Report
from tests.gate.asking import ask, found
from tests.gate.cases.replay import edit_first, edit_replay, original, other_stream, replayed
from tests.gate.honest import honest_code, honest_kv_quant
from tests.gate.honest.replay import measured_replay

REPLAY = replayed()


def rows(report: Report) -> tuple[ReplayedRow, ...]:
    assert report.replay is not None
    return report.replay.rows


def on_another_machine(report: Report) -> Report:
    other = Host(os="Linux 1", machine="other")
    return edit_replay(report, lambda replay: replay.replace(original_host=other))


def missed(row: ReplayedRow, gap: float) -> ReplayedRow:
    """The original's third token is no choice of the verifier here, by so much."""
    assert isinstance(row.replayed, Measurement)
    assert isinstance(row.original, Measurement)
    assert row.original.token_ids is not None
    argmax = (row.replayed.token_ids or ())[2]
    miss = Mismatch(position=2, emitted=row.original.token_ids[2], argmax=argmax, gap=gap)
    audit = AuditedStream(sample=0, repeat=0, tokens_checked=len(row.original.token_ids), mismatches=(miss,))
    return row.replace(audit=audit)


def test_an_honest_replay_confirms_its_rows_and_times_are_no_part_of_it() -> None:
    for code in ("REPLAY_DRAW", "REPLAY_NOT_RUN", "REPLAY_DISAGREES"):
        assert not ask(code, REPLAY)
    figures = confirmed(ReportView(REPLAY))
    assert figures is not None
    assert (figures.share, figures.basis.drawn, figures.basis.near_ties) == (1.0, len(rows(REPLAY)), 0)
    assert figures.basis.rows == sum(len(arm.measurements) for arm in original().arms)
    assert figures.basis.false_at_most == 0.0, "every row was drawn"
    assert judge(conclude(REPLAY)).headlines[0].claim.value == 1.0


def test_a_row_left_out_added_or_swapped_is_not_the_draw() -> None:
    own = rows(REPLAY)
    for changed in (
        own[:-1],
        own[1:],
        (*own, own[0]),
        (own[1], own[0], *own[2:]),
        (own[0].replace(place=99), *own[1:]),
    ):
        assert len(ask("REPLAY_DRAW", edit_replay(REPLAY, lambda replay, rows=changed: replay.replace(rows=rows)))) == 1
    larger = measured_replay(honest_code())
    assert not ask("REPLAY_DRAW", larger)
    assert ask("REPLAY_DRAW", edit_replay(larger, lambda replay: replay.replace(seed=8)))
    figures = confirmed(ReportView(larger))
    assert figures is not None
    assert 0 < figures.basis.false_at_most < 0.5


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", "other"), ("correct", True), ("stop_reason", "eos"), ("kv_bytes_prefill", 1), ("kv_bytes_decode", 1),
        ("prompt_tokens", 1), ("restored_positions", 5), ("evicted_positions", 5), ("decode_loop", "other"),
        ("fallbacks", ("slow path",)),
    ],
)  # fmt: skip
def test_whatever_is_recorded_and_came_out_otherwise_is_found(field: str, value: object) -> None:
    def edit(row: ReplayedRow) -> ReplayedRow:
        assert isinstance(row.replayed, Measurement)
        return row.replace(replayed=row.replayed.replace(**{field: value}))

    recorded = getattr(rows(REPLAY)[0].original, field) is not None
    assert bool(ask("REPLAY_DISAGREES", edit_first(REPLAY, edit))) == recorded


def test_drafts_are_compared_block_by_block() -> None:
    drafting = next(place for place, row in enumerate(rows(REPLAY)) if getattr(row.original, "speculation", None))

    def edit(row: ReplayedRow) -> ReplayedRow:
        assert isinstance(row.replayed, Measurement)
        assert row.replayed.speculation is not None
        assert row.replayed.speculation.rounds is not None
        first, *rest = row.replayed.speculation.rounds
        first = first.replace(accepted=first.accepted + 1)
        speculation = row.replayed.speculation.replace(rounds=(first, *rest))
        return row.replace(replayed=row.replayed.replace(speculation=speculation))

    own = list(rows(REPLAY))
    own[drafting] = edit(own[drafting])
    report = edit_replay(REPLAY, lambda replay: replay.replace(rows=tuple(own)))
    assert [one.field for one in ask("REPLAY_DISAGREES", report)] == ["speculation.rounds.0.accepted"]


def test_a_stream_that_parts_counts_as_the_same_only_by_a_tie_on_another_machine() -> None:
    parted = edit_first(REPLAY, other_stream)
    for gap, elsewhere, same in ((0.005, True, True), (0.005, False, False), (0.5, True, False)):
        report = edit_first(parted, lambda row, gap=gap: missed(row, gap))
        report = on_another_machine(report) if elsewhere else report
        assert (not ask("REPLAY_DISAGREES", report)) == same, (gap, elsewhere)
        figures = confirmed(ReportView(report))
        assert figures is not None
        assert figures.basis.near_ties == int(same)


def test_a_row_that_could_not_run_says_why_and_counts_as_false() -> None:
    silent = edit_first(REPLAY, lambda row: row.replace(replayed=None))
    assert found("REPLAY_NOT_RUN", silent) == ["neither outcome nor reason"]
    told = edit_first(REPLAY, lambda row: row.replace(replayed=None, not_run="no such arm"))
    assert not ask("REPLAY_NOT_RUN", told)
    assert not ask("REPLAY_DISAGREES", told)
    before, after = confirmed(ReportView(REPLAY)), confirmed(ReportView(told))
    assert before is not None
    assert after is not None
    assert after.basis.not_run == 1
    assert after.share < 1.0
    assert after.basis.false_at_most > before.basis.false_at_most


def test_a_replay_is_of_the_report_that_it_names() -> None:
    assert unlike_original(REPLAY, original()) is None
    assert unlike_original(REPLAY, None) is not None
    edits = (
        lambda replay: replay.replace(population=replay.population[:-1]),
        lambda replay: replay.replace(facts=replay.facts[:-1]),
        lambda replay: replay.replace(facts=(replay.facts[0].replace(original="0"), *replay.facts[1:])),
        lambda replay: replay.replace(
            rows=(replay.rows[0].replace(original=replay.rows[1].original), *replay.rows[1:])
        ),
        lambda replay: replay.replace(rows=(replay.rows[0].replace(place=10**6), *replay.rows[1:])),
        lambda replay: replay.replace(rows=(replay.rows[0].replace(original_audit=None), *replay.rows[1:])),
    )
    for edit in edits:
        assert unlike_original(edit_replay(REPLAY, edit), original()) is not None


def test_a_replay_that_disagrees_blocks_the_claims_about_its_arm() -> None:
    arm = next(row.arm for row in rows(REPLAY) if row.arm.startswith("fused"))
    place = [row.arm for row in rows(REPLAY)].index(arm)
    own = list(rows(REPLAY))
    own[place] = other_stream(own[place])
    (against,) = of_replays(
        original(), Beside(replays=(edit_replay(REPLAY, lambda replay: replay.replace(rows=tuple(own))),))
    )
    assert against.code == "REPLAY_REFUTES"
    assert against.claims
    about = {claim.name: (claim.arm, claim.baseline) for claim in original().claims}
    assert {name for name in about if arm in about[name]} == set(against.claims)
    (of_oracle,) = of_replays(original(), Beside(replays=(edit_first(REPLAY, other_stream),)))
    assert rows(REPLAY)[0].arm == "oracle"
    assert set(of_oracle.claims) == set(about)


def test_rows_that_were_copied_were_not_run() -> None:
    first, *rest = rows(REPLAY)
    copied = edit_replay(REPLAY, lambda replay: replay.replace(rows=(first.replace(replayed=first.original), *rest)))
    (violation,) = ask("REPLAY_NOT_RUN", copied)
    assert "its times are the report's own to the last digit" in violation.message


def test_an_audit_that_is_missing_hides_nothing() -> None:
    place, row = next((place, row) for place, row in enumerate(rows(REPLAY)) if row.original_audit is not None)
    hidden = (*rows(REPLAY)[:place], row.replace(audit=None), *rows(REPLAY)[place + 1 :])
    assert len(ask("REPLAY_DISAGREES", edit_replay(REPLAY, lambda replay: replay.replace(rows=hidden)))) == 1


def test_one_fact_told_again_does_not_stand_for_the_others() -> None:
    assert REPLAY.replay is not None
    facts = REPLAY.replay.facts
    again = edit_replay(REPLAY, lambda replay: replay.replace(facts=(facts[0],) * len(facts)))
    fault = unlike_original(again, original())
    assert fault is not None
    assert fault[0] == "replay.facts"


def test_facts_that_were_emptied_hide_nothing() -> None:
    assert REPLAY.replay is not None
    emptied = edit_replay(
        REPLAY,
        lambda replay: replay.replace(facts=tuple(fact.replace(replayed=None) for fact in replay.facts)),
    )
    rightly = [
        fact.field for fact in REPLAY.replay.facts if fact.field.startswith("models.") and fact.field.endswith(".id")
    ]
    assert len(ask("REPLAY_DISAGREES", emptied)) == len(REPLAY.replay.facts) - len(rightly)


def on_pytorch(report: Report) -> Report:
    """The same rows, run again with PyTorch."""
    assert report.provenance is not None
    runtime = Runtime(backend="torch", device="cpu", dtype="float32", attention="sdpa", threads=2)
    return report.replace(provenance=report.provenance.replace(runtime=runtime))


def other_bytes(row: ReplayedRow) -> ReplayedRow:
    assert isinstance(row.replayed, Measurement)
    return row.replace(replayed=row.replayed.replace(kv_bytes_decode=1, decode_loop="greedy_step"))


def test_on_the_other_runtime_a_replay_tells_whether_the_two_are_at_par() -> None:
    other = conclude(on_pytorch(measured_replay(original())))
    assert [(claim.metric, claim.value) for claim in other.claims] == [("runtime_parity", 1.0)]
    assert not ask("REPLAY_DISAGREES", edit_first(other, other_bytes)), "each keeps its own room to spare"
    assert ask("REPLAY_DISAGREES", edit_first(REPLAY, other_bytes))
    assert ask("REPLAY_DISAGREES", edit_first(other, other_stream))
    assert not ask("REPLAY_DISAGREES", edit_first(other, lambda row: missed(other_stream(row), 0.004)))
    assert ask("REPLAY_DISAGREES", edit_first(other, lambda row: missed(other_stream(row), 0.5)))


def test_a_tie_between_runtimes_takes_the_audits_of_both() -> None:
    other = on_pytorch(REPLAY)
    alone = edit_first(other, lambda row: missed(other_stream(row), 0.004).replace(original_audit=None))
    assert ask("REPLAY_DISAGREES", alone)


def test_no_row_is_called_false_for_what_the_other_runtime_made_of_it() -> None:
    for replay, word in ((REPLAY, "false"), (on_pytorch(measured_replay(original())), "come out otherwise")):
        concluded = conclude(replay)
        (claim,) = concluded.claims
        headline = Headline(claim, counted(ReportView(concluded), claim))
        (sentence,) = sentences(JudgedFile("x.json", "k3", "replay", 2, "admissible", headlines=(headline,)))
        for said in (headline_line(headline), sentence):
            assert word in said
            assert ("false" in said) == (word == "false")


def test_the_other_runtime_says_nothing_against_the_report_and_cannot_be_made_up() -> None:
    parted = conclude(edit_first(on_pytorch(measured_replay(original())), other_stream))
    evidence = Beside(replays=(parted,))
    assert not list(of_replays(original(), evidence))
    assert parted.claims[0].status == "withheld"
    runtime = on_pytorch(REPLAY).provenance
    assert runtime is not None
    pretended = edit_replay(REPLAY, lambda replay: replay.replace(original_runtime=runtime.runtime))
    fault = unlike_original(pretended, original())
    assert fault is not None
    assert fault[0] == "replay.original_runtime"


def test_a_step_that_was_in_flight_when_the_stream_stopped_may_have_been_counted() -> None:
    def more(row: ReplayedRow, count: int, reason: str) -> ReplayedRow:
        assert isinstance(row.original, Measurement)
        assert isinstance(row.replayed, Measurement)
        return row.replace(
            original=row.original.replace(evicted_positions=100 + count, restored_positions=0, stop_reason=reason),
            replayed=row.replayed.replace(evicted_positions=100, restored_positions=0, stop_reason=reason),
        )

    layers = ReportView(REPLAY).layers
    assert layers
    for count, reason, same in ((layers, "eos", True), (layers + 1, "eos", False), (1, "length", False)):
        edited = edit_first(REPLAY, lambda row, count=count, reason=reason: more(row, count, reason))
        assert (not ask("REPLAY_DISAGREES", edited)) is same, (count, reason)


def test_a_codec_row_that_stopped_by_itself_has_no_positions_to_compare() -> None:
    """It once ended the gate with an AttributeError."""
    report = measured_replay(honest_kv_quant())

    def stopped(row: ReplayedRow) -> ReplayedRow:
        assert isinstance(row.original, OracleSample)
        sample = row.original.replace(stop_reason="eos")
        return row.replace(original=sample, replayed=sample)

    of_oracle = next(row for row in rows(report) if isinstance(row.original, OracleSample))
    edited = edit_replay(report, lambda replay: replay.replace(rows=(stopped(of_oracle),)))
    assert not ask("REPLAY_DISAGREES", edited)


@pytest.mark.parametrize(
    ("apart", "here", "elsewhere"), [(0.0005, True, True), (0.01, False, True), (0.03, False, False)]
)
def test_errors_of_a_codec_may_differ_by_more_on_another_machine(apart: float, here: bool, elsewhere: bool) -> None:
    report = measured_replay(honest_kv_quant())
    samples = ((row, row.original) for row in rows(report) if isinstance(row.original, CodecSample))
    row, lossy, error = next((row, one, k) for row, one in samples if (k := one.relative_error_k or 0) > 0.001)
    drawn = (row.replace(replayed=lossy.replace(relative_error_k=error * (1 + apart))),)
    edited = edit_replay(report, lambda replay: replay.replace(rows=drawn))
    assert (not ask("REPLAY_DISAGREES", edited)) is here
    assert (not ask("REPLAY_DISAGREES", on_another_machine(edited))) is elsewhere


def test_on_another_device_of_the_same_machine_a_stream_may_part_at_a_tie() -> None:
    def on(device: str) -> Runtime:
        return Runtime(backend="torch", device=device, dtype="float32", attention="sdpa", threads=2)

    parted = edit_first(REPLAY, lambda row: missed(other_stream(row), 0.004))
    assert parted.provenance is not None
    for before, same in (("cuda", True), ("cpu", False)):
        made = parted.replace(provenance=parted.provenance.replace(runtime=on("cpu")))
        made = edit_replay(made, lambda replay, before=before: replay.replace(original_runtime=on(before)))
        assert (not ask("REPLAY_DISAGREES", made)) is same, before
