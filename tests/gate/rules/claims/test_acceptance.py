import pytest

from gate.claims.propose import propose
from tests.gate.asking import ask
from tests.gate.honest import Setup, measured_code

MEASURED = measured_code(Setup(samples=3, repeats=2, max_new_tokens=24, draft_arms=("ngram",)))
CODE = MEASURED.replace(claims=propose(MEASURED))


def claim(name):
    return next(one for one in CODE.claims if one.name == name)


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
