import pytest

from gate.rules.speedup.stage_times import IMPORTED_STAGE_SLACK_S, STAGE_SLACK_RELATIVE, STAGE_SLACK_S
from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.edits import edit_first_row, edit_rows, set_first_row
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))

IMPORTED = CODE.replace(imported=Imported(importer="k3-mac", original_digest="sha256:" + "0" * 64))


def shifted(report, seconds):
    return edit_first_row(report, "oracle", lambda row: row.replace(e2e_s=row.e2e_s + seconds))


def halved(name):
    def edit(row):
        first = row.speculation.rounds[0]
        rounds = (first.replace(**{name: getattr(first, name) / 2}), *row.speculation.rounds[1:])
        return row.replace(speculation=row.speculation.replace(rounds=rounds))

    return edit_first_row(CODE, "fused_ngram", edit)


@pytest.mark.parametrize("sign", [1, -1])
def test_stages_miss_by_no_more_than_microseconds(sign):
    assert not ask("STAGE_ARITHMETIC", shifted(CODE, sign * 3e-6))
    assert [finding.field for finding in ask("STAGE_ARITHMETIC", shifted(CODE, sign * 1e-4))] == ["e2e_s"]


def test_decoding_takes_longer_than_its_blocks_and_never_less():
    def longer(seconds):
        return edit_first_row(
            CODE, "fused_ngram", lambda row: row.replace(decode_s=row.decode_s + seconds, e2e_s=row.e2e_s + seconds)
        )

    row = next(arm for arm in CODE.arms if arm.name == "fused_ngram").measurements[0]
    slack = STAGE_SLACK_S.value + STAGE_SLACK_RELATIVE.value * row.decode_s
    assert not ask("STAGE_ARITHMETIC", longer(slack * 0.9))
    assert ask("STAGE_ARITHMETIC", longer(slack * 1.2))
    assert ask("STAGE_ARITHMETIC", longer(-slack * 0.5))


def test_imported_stages_are_rounded_each():
    assert not ask("STAGE_ARITHMETIC", shifted(IMPORTED, IMPORTED_STAGE_SLACK_S.value))


@pytest.mark.parametrize("field", ["prefill_s", "decode_s", "e2e_s"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_work_takes_time(field, value):
    found = ask("STAGE_ARITHMETIC", set_first_row(CODE, "oracle", **{field: value}))
    assert field in {finding.field for finding in found}


def test_a_stage_that_did_not_run_may_take_none():
    assert not ask("STAGE_ARITHMETIC", set_first_row(CODE, "oracle", restoration_s=0.0, aux_s=0.0))
    assert ask("STAGE_ARITHMETIC", set_first_row(CODE, "oracle", aux_s=-0.1))


def test_where_a_stage_is_missing_only_too_much_is_a_fault():
    assert not ask("STAGE_ARITHMETIC", set_first_row(CODE, "oracle", prefill_s=None))
    assert ask("STAGE_ARITHMETIC", set_first_row(CODE, "oracle", prefill_s=None, decode_s=99.0))


def test_a_block_lasts_as_long_as_its_stages():
    assert "rounds.0.seconds" in {finding.field for finding in ask("STAGE_ARITHMETIC", halved("seconds"))}


def test_blocks_fill_the_decode_time():
    assert "decode_s" in {finding.field for finding in ask("STAGE_ARITHMETIC", halved("seconds"))}


def test_totals_are_the_sums_of_the_blocks():
    assert [finding.field for finding in ask("STAGE_ARITHMETIC", halved("verify_s"))] == ["speculation.verify_s"]


@pytest.mark.parametrize(("share", "fields"), [(0.9, []), (0.5, ["speculation"])])
def test_stages_account_for_most_of_their_blocks(share, fields):
    """A verify told shorter in every block and in the total, with the blocks as long as they were."""

    def edit(row):
        said = row.speculation
        rounds = tuple(block.replace(verify_s=block.verify_s * share) for block in said.rounds)
        return row.replace(speculation=said.replace(rounds=rounds, verify_s=said.verify_s * share))

    report = edit_first_row(CODE, "fused_ngram", edit)
    assert [finding.field for finding in ask("STAGE_ARITHMETIC", report)] == fields


@pytest.mark.parametrize(("others", "found"), [(0.2, []), (None, ["e2e_s"])])
def test_a_foreign_row_that_lacks_a_stage_of_its_arm_may_take_longer(others, found):
    report = edit_rows(IMPORTED, "oracle", lambda row: row.replace(aux_s=others, e2e_s=row.e2e_s + (others or 0)))
    report = edit_first_row(report, "oracle", lambda row: row.replace(aux_s=None, e2e_s=row.e2e_s + 0.2))
    assert [finding.field for finding in ask("STAGE_ARITHMETIC", report)] == found
