from reports.records.measurement import DrafterInfo
from tests.gate.asking import ask
from tests.gate.edits import edit_arm, foreign, set_first_row, set_rows, set_verifier
from tests.gate.honest import BYTES_PER_LAYER_TOKEN, SINK, WINDOW, Setup, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=2, suts=("f_theta", "native")))


def test_repeats_and_the_null_arm_hold_what_the_oracle_holds():
    assert not ask("KV_BYTES_VARY", NIAH)
    assert {f.arm for f in ask("KV_BYTES_VARY", set_first_row(NIAH, "oracle_again", kv_bytes_prefill=1))} == {
        "oracle_again"
    }
    assert ask("KV_BYTES_VARY", set_rows(NIAH, "oracle", kv_bytes_prefill=10**9))


def test_other_caches_hold_other_bytes():
    assert not ask("KV_BYTES_VARY", set_rows(NIAH, "f_theta", kv_bytes_prefill=1))
    report = edit_arm(NIAH, "oracle_again", lambda arm: arm.replace(engine="incremental"))
    assert not ask("KV_BYTES_VARY", set_rows(report, "oracle_again", kv_bytes_prefill=1))


def test_unknown_bytes_are_not_compared():
    assert not ask("KV_BYTES_VARY", set_rows(NIAH, "oracle", kv_bytes_prefill=None))


def test_a_bounded_cache_holds_what_its_bounds_leave():
    assert not ask("KV_BYTES_ARITHMETIC", NIAH)
    full = NIAH.arms[0].measurements[0].kv_bytes_prefill
    for held in (full, full // 20, 0):
        assert {f.arm for f in ask("KV_BYTES_ARITHMETIC", set_rows(NIAH, "f_theta", kv_bytes_prefill=held))} == {
            "f_theta"
        }
    assert not ask("KV_BYTES_ARITHMETIC", set_rows(NIAH, "f_theta", kv_bytes_prefill=None))


def test_exact_layers_hold_everything_in_steps():
    def exact(arm):
        return arm.replace(restoration=arm.restoration.replace(exact_layers=tuple(range(15))))

    report = edit_arm(NIAH, "ablate", exact)
    tokens = report.arms[0].measurements[0].prompt_tokens
    stepped = 15 * BYTES_PER_LAYER_TOKEN * (SINK + WINDOW + (tokens // 256 + 1) * 256)
    held = {"prompt_tokens": tokens, "prompt_digest": report.arms[0].measurements[0].prompt_digest}
    assert ask("KV_BYTES_ARITHMETIC", report)
    assert not ask("KV_BYTES_ARITHMETIC", set_rows(report, "ablate", kv_bytes_prefill=stepped, **held))


def test_residency_decides_what_restored_positions_weigh():
    def resident(arm):
        return arm.replace(restoration=arm.restoration.replace(residency="resident"))

    assert ask("KV_BYTES_ARITHMETIC", edit_arm(NIAH, "f_theta", resident))


def test_features_that_are_kept_count_with_the_keys_and_values():
    def keeping(arm):
        return arm.replace(restoration=arm.restoration.replace(feature_bytes=4608))

    report = edit_arm(NIAH, "f_theta", keeping)
    (found, *_) = ask("KV_BYTES_ARITHMETIC", report)
    assert "bytes of features" in found.message
    rows = report.arms[2].measurements if report.arms[2].name == "f_theta" else ()
    more = {row.sample: row.kv_bytes_prefill + 4608 * row.prompt_tokens for row in rows}

    def counted(arm):
        return arm.replace(
            measurements=tuple(row.replace(kv_bytes_prefill=more[row.sample]) for row in arm.measurements)
        )

    assert not ask("KV_BYTES_ARITHMETIC", edit_arm(report, "f_theta", counted))


def test_models_with_windows_of_their_own_are_left_to_their_tables():
    report = set_rows(NIAH, "f_theta", kv_bytes_prefill=1)
    assert not ask("KV_BYTES_ARITHMETIC", set_verifier(report, layer_types=("sliding_attention",) * 30))
    assert not ask("KV_BYTES_ARITHMETIC", foreign(report))


def test_the_context_of_a_drafter_is_no_part_of_the_bounds():
    """It counts with the K/V of an arm whose drafter has one, and for no other."""
    own = NIAH.arms[0].measurements[0].kv_bytes_prefill
    held = next(arm for arm in NIAH.arms if arm.name == "f_theta").measurements[0]
    more = {"kv_bytes_prefill": held.kv_bytes_prefill + own, "drafter_bytes_prefill": own}
    report = set_first_row(NIAH, "f_theta", **more)
    for name, fires in (("dflash", False), ("ngram", True)):
        drafting = edit_arm(report, "f_theta", lambda arm, name=name: arm.replace(drafter=DrafterInfo(name=name)))
        assert bool(ask("KV_BYTES_ARITHMETIC", drafting)) is fires
    assert ask("KV_BYTES_ARITHMETIC", report)
