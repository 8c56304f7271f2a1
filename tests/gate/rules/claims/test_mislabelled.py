import pytest

from gate.claims.propose import propose
from tests.gate.asking import ask
from tests.gate.edits import set_claim
from tests.gate.honest import Setup, measured_code

MEASURED = measured_code(Setup(samples=3, repeats=2, max_new_tokens=24, draft_arms=("ngram",)))

CODE = MEASURED.replace(claims=propose(MEASURED))

SPEEDUP = "decode_speedup/fused_ngram"


def claim(name):
    return next(one for one in CODE.claims if one.name == name)


@pytest.mark.parametrize(
    ("name", "changes", "field"),
    [
        (SPEEDUP, {"name": "speedup"}, "claims.name"),
        (SPEEDUP, {"baseline": "oracle_again"}, "claims.baseline"),
        (SPEEDUP, {"baseline": None}, "claims.baseline"),
        (SPEEDUP, {"arm": "oracle_again", "name": "decode_speedup/oracle_again"}, "claims.arm"),
        ("null_ratio/oracle_again", {"arm": "fused_ngram", "name": "null_ratio/fused_ngram"}, "claims.arm"),
        ("token_identity/fused_ngram", {"baseline": "fused_ngram"}, "claims.baseline"),
    ],
)
def test_a_claim_is_about_what_its_name_says(name, changes, field):
    assert not ask("CLAIM_MISLABELLED", CODE)
    assert field in {finding.field for finding in ask("CLAIM_MISLABELLED", set_claim(CODE, name, **changes))}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"denominator": "output_tokens"}, "claims.denominator"),
        ({"denominator": "unknown"}, "claims.denominator"),
        ({"by_position": None}, "claims.by_position"),
        ({"committed_per_block": None}, "claims.by_position"),
    ],
)
def test_acceptance_is_three_figures_over_drafts(changes, field):
    acceptance = claim("acceptance/fused_ngram")
    assert not ask("ACCEPTANCE_DENOMINATOR", CODE, acceptance)
    assert [f.field for f in ask("ACCEPTANCE_DENOMINATOR", CODE, acceptance.replace(**changes))] == [field]
