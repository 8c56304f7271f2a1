import pytest

from reports.reading.evidence import Invalid
from reports.records.constants import NATIVE_BASELINE_LABEL

CROSS = "k3_cross_model"


def arm(report, name=CROSS):
    return next(arm for arm in report.arms if arm.name == name)


def claims(report):
    return {claim.name: claim.value for claim in report.claims}


def test_the_replay_holds_everything_its_violations_are_made_of(imported, replay):
    report = imported(replay)
    cross, oracle = arm(report), arm(report, "oracle")
    assert report.kind == "niah"
    assert (cross.role, cross.engine, cross.system_under_test) == ("sut", "fused", None)
    assert (oracle.role, oracle.engine, oracle.decode_loop) == ("oracle", "ar", None)
    assert {row.decode_loop for row in oracle.measurements} == {None}
    assert [row.restoration_active for row in cross.measurements] == [False] * 5
    assert [row.stated_restoration_active for row in cross.measurements] == [None] * 5
    assert [row.speculation.blocks for row in cross.measurements] == [0] * 5
    assert [row.prefill_s for row in cross.measurements] == [32.857, 37.284, 32.612, 21.529, 41.982]
    assert [row.prefill_s for row in oracle.measurements] == [80.599, 35.268, 89.521, 146.333, 39.17]
    assert [row.prompt_tokens for row in oracle.measurements] == [5810, 4911, 5594, 4406, 5505]
    for measured in (cross, oracle):
        assert [row.decode_tokens for row in measured.measurements] == [8, 7, 8, 8, 8]
        assert measured.timing_scope == "e2e_prefill_plus_decode"
    assert claims(report) == {
        f"e2e_speedup/{CROSS}": 2.584,
        f"restoration_recall/{CROSS}": 1.0,
        "oracle_recall/oracle": 1.0,
        f"kv_saving/{CROSS}": 0.898,
    }
    assert {claim.status for claim in report.claims} == {"claimed"}
    table = report.memory.arms[0]
    assert (table.total_bytes, table.full_kv_bytes) == (132_915_200, 1_308_876_800)
    assert (table.formula_matches_run, table.stated_formula_matches_run) == (None, None)


def test_it_is_marked_as_imported_and_names_nobody(imported, replay):
    report = imported(replay)
    marked = report.imported
    assert (marked.importer, marked.original_schema_version) == ("k3-mac", 1)
    assert marked.original_kind == "k3_integrated_niah_acceptance_mac"
    assert any("restored_greedy" in note for note in marked.notes)
    assert "somebody" not in report.model_dump_json()
    assert report.provenance.models[0].id == "gemma-4-26B-A4B-it-mlx-4bit"


def test_what_the_format_does_not_record_stays_unknown(imported, schema_2):
    report = imported(schema_2)
    for measured in report.arms:
        for row in measured.measurements:
            assert row.order is row.prompt_digest is row.stop_reason is row.fallbacks is None
            assert row.restored_positions is row.evicted_positions is None
            assert row.kv_bytes_prefill is row.kv_bytes_decode is row.peak_bytes is None
    assert {row.token_ids for row in arm(report, "oracle").measurements} == {None}
    assert report.plan.order is report.plan.warmups is report.plan.repeats is report.plan.stop is None
    assert report.provenance.source is report.provenance.host is report.created_at is report.gate is None
    speculation = arm(report).measurements[0].speculation
    assert speculation.drafted is speculation.accepted is speculation.committed is speculation.rounds is None
    assert arm(report).restoration.eviction is arm(report).restoration.residency is None


def test_schema_2_is_imported_not_validated_as_ours(evidence, imported, schema_2):
    assert evidence(schema_2).source == "k3-mac"
    report = imported(schema_2)
    cross = arm(report)
    assert cross.system_under_test == "restored_cross_model"
    assert cross.decode_loop == "fused_specdecode"
    assert arm(report, "oracle").decode_loop == "generate_step"
    assert [row.restoration_active for row in cross.measurements] == [True] * 5
    assert claims(report)[f"decode_speedup/{CROSS}"] == 11.5
    assert [(rate.scope, rate.statistic, rate.value) for rate in cross.stated_rates] == [
        ("e2e", "total", 0.2217),
        ("decode", "median", 8.0),
    ]
    assert report.memory.arms[0].stated_formula_matches_run is True
    assert report.memory.arms[0].formula_matches_run is None


def test_a_flag_that_the_times_disprove_is_kept_as_stated_only(imported, schema_2):
    schema_2["config"]["eval_mode"] = "free_gen_incremental"
    cross = schema_2["throughput"][CROSS]
    cross["eval_mode"] = "free_gen_incremental"
    for row in cross["stage_timings"]:
        del row["fused"], row["aux_prompt_capture_s"]
        row["build_restoration_s"] = 0.001
    report = imported(schema_2)
    assert arm(report).engine == "incremental"
    assert arm(report).drafter is None
    assert [row.restoration_active for row in arm(report).measurements] == [False] * 5
    assert [row.stated_restoration_active for row in arm(report).measurements] == [True] * 5


def test_a_fused_row_that_hides_its_blocks_is_unknown(imported, schema_2):
    row = schema_2["throughput"][CROSS]["stage_timings"][2]
    del row["fused"]["blocks"]
    assert [row.restoration_active for row in arm(imported(schema_2)).measurements] == [True, True, None, True, True]


@pytest.mark.parametrize(("loop", "counts"), [("keep_accepted", "committed"), (None, "bonus_and_accepted")])
def test_the_accept_length_means_what_the_loop_says(imported, schema_2, loop, counts):
    for row in schema_2["throughput"][CROSS]["stage_timings"]:
        row["fused"]["loop"] = loop
    row = arm(imported(schema_2)).measurements[0]
    assert row.speculation.accept_len_counts == counts
    assert (row.speculation.blocks, row.speculation.mean_accept_len) == (4, 2.0)
    assert (row.speculation.draft_s, row.speculation.verify_s, row.speculation.extend_s) == (0.1, 0.2, 0.05)


@pytest.mark.parametrize(
    ("mode", "engine"),
    [
        ("free_gen", "free-gen"),
        ("free_gen_incremental", "incremental"),
        ("free_gen_fused_specdecode", "fused"),
        ("teacher_forced", "teacher-forced"),
        ("native_ar_baseline", "native-baseline"),
    ],
)
def test_every_mode_is_an_engine_of_its_own(imported, schema_2, mode, engine):
    schema_2["config"]["eval_mode"] = schema_2["throughput"][CROSS]["eval_mode"] = mode
    report = imported(schema_2)
    assert arm(report).engine == engine
    assert arm(report).restoration.mode == ("none" if mode == "native_ar_baseline" else "f_theta")


@pytest.mark.parametrize(
    ("changes", "mode", "exact"),
    [
        ({}, "f_theta", (5, 11, 17, 23, 29)),
        ({"identity_restore": True}, "identity", (5, 11, 17, 23, 29)),
        ({"native_baseline_bypass": True}, "none", (5, 11, 17, 23, 29)),
        ({"s5_exact_full_attn": False}, "f_theta", ()),
        ({"s5_exact_full_attn": None}, "f_theta", None),
    ],
)
def test_restoration_is_taken_as_configured(imported, schema_2, changes, mode, exact):
    schema_2["config"] |= changes
    restoration = arm(imported(schema_2)).restoration
    assert (restoration.mode, restoration.exact_layers) == (mode, exact)
    assert (restoration.sink, restoration.window) == (4, 64)


def test_an_unknown_way_to_restore_stays_unknown(imported, schema_2):
    schema_2["config"]["f_theta_dir"] = None
    assert arm(imported(schema_2)).restoration is None


def test_a_baseline_that_claims_the_systems_recall_still_claims_it(imported, schema_2):
    schema_2["results"][CROSS]["system_under_test"] = NATIVE_BASELINE_LABEL
    assert f"restoration_recall/{CROSS}" in claims(imported(schema_2))
    schema_2["gate"] = {"recall_cross_model": None, "recall_native_baseline": 1.0, "recall_oracle": 1.0}
    stated = claims(imported(schema_2))
    assert stated[f"native_baseline_recall/{CROSS}"] == 1.0
    assert f"restoration_recall/{CROSS}" not in stated


def test_a_recall_that_is_stated_twice_differently_is_claimed_twice(imported, schema_2):
    schema_2["results"][CROSS]["recall"] = 7.0
    assert claims(imported(schema_2))[f"arm_recall/{CROSS}"] == 7.0
    del schema_2["gate"]
    stated = claims(imported(schema_2))
    assert (stated[f"arm_recall/{CROSS}"], stated["arm_recall/oracle"]) == (7.0, 1.0)


def test_null_figures_are_no_claims(imported, schema_2):
    schema_2["gate"] = {"recall_cross_model": None, "recall_oracle": None}
    for result in schema_2["results"].values():
        result["recall"] = None
    schema_2["throughput"]["cross_model_speedup_vs_oracle_ar"] = None
    schema_2["throughput"]["decode_only"] = None
    schema_2["memory"]["savings_vs_naive_pct"] = None
    schema_2["throughput"]["speedup_withheld_reasons"] = ["too\nfew"]
    report = imported(schema_2)
    assert report.claims == ()
    assert "the tool itself withheld its speed-up: too\\nfew" in report.imported.notes


def test_an_absent_oracle_and_absent_timings_stay_absent(imported, schema_2):
    del schema_2["results"]["oracle"], schema_2["throughput"]["oracle_native_ar"], schema_2["memory"]
    del schema_2["throughput"][CROSS]["stage_timings"]
    report = imported(schema_2)
    assert [measured.name for measured in report.arms] == [CROSS]
    assert report.memory is None
    for row in arm(report).measurements:
        assert row.prefill_s is row.decode_s is row.e2e_s is row.restoration_active is row.speculation is None
        assert row.text is not None


def test_a_sample_without_a_stage_row_has_no_times(imported, schema_2):
    del schema_2["throughput"][CROSS]["stage_timings"][3]
    times = [row.prefill_s for row in arm(imported(schema_2)).measurements]
    assert times[3] is None
    assert None not in times[:3]


def test_older_names_of_the_prefill_are_known(imported, replay):
    row = replay["throughput"][CROSS]["stage_timings"][0]
    row["prefill_attach_s"] = row.pop("restored_prefill_s")
    assert arm(imported(replay)).measurements[0].prefill_s == 32.857


def test_an_unknown_scope_is_unknown(imported, schema_2):
    schema_2["throughput"][CROSS]["timing_scope"] = "decode_mostly"
    assert arm(imported(schema_2)).timing_scope is None


def test_a_full_cache_is_computed_from_the_layers_and_stated_only_without_them(imported, schema_2):
    schema_2["memory"]["naive_full_kv"]["total_resident_mb"] = 13088.77
    assert imported(schema_2).memory.arms[0].full_kv_bytes == 1_308_876_800
    del schema_2["memory"]["s5"]["per_layer"]
    assert imported(schema_2).memory.arms[0].full_kv_bytes == 13_088_770_000


def _set(*path):
    *holders, last, value = path

    def change(document):
        for name in holders:
            document = document[name]
        document[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (_set("config", "eval_mode", "free_gen_fussed"), "config.eval_mode"),
        (_set("throughput", CROSS, "eval_mode", "free_gen"), "throughput.k3_cross_model.eval_mode"),
        (_set("results", CROSS, "samples_total", 6), "per_sample_decoded"),
        (_set("results", "oracle", "samples_total", 2**50), "per_sample_decoded"),
        (_set("results", CROSS, "samples_correct", 4), "results.k3_cross_model.samples_correct"),
        (_set("results", CROSS, "per_sample_correct", [True] * 4), "per_sample_correct"),
        (_set("results", CROSS, "per_sample_correct", [1] * 5), "per_sample_correct"),
        (_set("results", CROSS, "recall", "1.0"), "results.k3_cross_model.recall"),
        (_set("config", "prompt_token_lens", [1, 2]), "config.prompt_token_lens"),
        (_set("throughput", CROSS, "stage_timings", 1, "sample", 0), "stage_timings.1.sample"),
        (_set("throughput", CROSS, "stage_timings", 1, "sample", 9), "stage_timings.1.sample"),
        (_set("throughput", CROSS, "stage_timings", 1, "decode_s", "2"), "stage_timings.1.decode_s"),
        (_set("throughput", CROSS, "stage_timings", 1, "decode_s", True), "stage_timings.1.decode_s"),
        (_set("throughput", CROSS, "stage_timings", 1, "restoration_active", 1), "stage_timings.1.restoration_active"),
        (_set("throughput", CROSS, "stage_timings", 1, "restored_prefill_s", 1.0), "two prefill times"),
        (_set("throughput", CROSS, "stage_timings", 1, "fused", "decode_tokens", 99), "fused.decode_tokens"),
        (_set("throughput", CROSS, "stage_timings", 1, "fused", "blocks", -1), "fused.blocks"),
        (_set("memory", "s5", "per_layer", []), "memory.naive_full_kv"),
        (_set("memory", "naive_full_kv", "total_resident_mb", 1e308), "memory.naive_full_kv.total_resident_mb"),
        (_set("results", None), "results"),
    ],
)
def test_a_file_that_is_wrong_or_contradicts_itself_names_the_field(evidence, schema_2, change, field):
    change(schema_2)
    if field == "memory.naive_full_kv":  # neither way to know it
        del schema_2["memory"]["naive_full_kv"]
    outcome = evidence(schema_2).outcome
    assert isinstance(outcome, Invalid)
    assert field in outcome.message


def test_a_count_without_samples_makes_no_rows(evidence, schema_2):
    schema_2["results"][CROSS] = {"samples_total": 2**40}
    del schema_2["config"]["prompt_token_lens"], schema_2["throughput"][CROSS]["stage_timings"]
    assert "samples_total" in evidence(schema_2).outcome.message


def test_a_table_beyond_what_a_record_holds_is_invalid(evidence, schema_2):
    schema_2["memory"]["s5"]["seq_len"] = 2**52
    assert "full_kv_bytes" in evidence(schema_2).outcome.message
