import pytest

from reports.report import Imported
from tests.gate.asking import ask
from tests.gate.cases.plan import same_prompt_twice
from tests.gate.edits import set_first_row
from tests.gate.honest import Setup, measured_code, measured_niah

NIAH = measured_niah(Setup(samples=2, repeats=1))

CODE = measured_code(Setup(samples=2, repeats=1, max_new_tokens=12, draft_arms=("ngram",)))

OTHER = "sha256:" + "5" * 64


def prompt_edit(report, **changes):
    first, *rest = report.workload.prompts
    return report.replace(workload=report.workload.replace(prompts=(first.replace(**changes), *rest)))


@pytest.mark.parametrize("changes", [{"prompt_digest": OTHER}, {"prompt_tokens": 3}])
@pytest.mark.parametrize("arm", ["identity", "ablate", "needle_free", "oracle"])
def test_another_prompt_than_the_workloads_breaks_the_evidence(arm, changes):
    found = ask("PROMPT_MISMATCH", set_first_row(NIAH, arm, **changes))
    assert arm in {finding.arm for finding in found}
    assert all(finding.severity is None for finding in found)


def test_a_missing_digest_is_withheld_not_broken():
    found = ask("PROMPT_MISMATCH", set_first_row(NIAH, "identity", prompt_digest=None))
    assert [(finding.arm, finding.severity) for finding in found] == [("identity", "withheld")]


@pytest.mark.parametrize("changes", [{"digest": None}, {"token_count": None}])
def test_a_prompt_the_workload_does_not_know_is_unknown(changes):
    assert {finding.severity for finding in ask("PROMPT_MISMATCH", prompt_edit(NIAH, **changes))} == {"withheld"}


def test_an_import_is_compared_with_its_oracle():
    report = NIAH.replace(
        imported=Imported(importer="k3-mac", original_digest="sha256:" + "0" * 64),
        workload=NIAH.workload.replace(prompts=()),
    )
    assert not ask("PROMPT_MISMATCH", report)
    assert ask("PROMPT_MISMATCH", set_first_row(report, "identity", prompt_digest=OTHER))


def test_one_prompt_is_one_sample():
    assert {finding.arm for finding in ask("PROMPT_REPEATED", same_prompt_twice(CODE))} >= {None, "oracle"}
    assert not ask("PROMPT_REPEATED", CODE)


def test_repeats_of_a_sample_share_its_prompt():
    assert not ask("PROMPT_REPEATED", measured_code(Setup(samples=2, repeats=3, max_new_tokens=12)))


def test_a_twin_that_still_holds_the_needle_is_the_same_prompt_as_another_sample():
    twin = NIAH.workload.prompts[3]
    assert (twin.sample, twin.prompt_set) == (1, "needle_free")
    assert ask("PROMPT_REPEATED", prompt_edit(NIAH, digest=twin.digest))


@pytest.mark.parametrize("changes", [{"answer": "ZETA-0000"}, {"digest": OTHER}, {"sample": 7}, {"group": "a/b"}])
def test_an_edited_prompt_leaves_a_stale_digest(changes):
    assert [finding.severity for finding in ask("WORKLOAD_DIGEST", prompt_edit(NIAH, **changes))] == [None]


def test_a_missing_digest_of_the_workload_is_withheld():
    report = NIAH.replace(workload=NIAH.workload.replace(digest=None))
    assert [finding.severity for finding in ask("WORKLOAD_DIGEST", report)] == ["withheld"]
