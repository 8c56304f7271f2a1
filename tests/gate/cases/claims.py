"""Cases of the rules about what a report says of its claims."""

from reports.report import Report
from tests.gate.cases.bases import NGRAM, code, code_of_five, dflash, judged
from tests.gate.edits import knowing_text, set_claim
from tests.gate.rule_case import RuleCase, stated

ACCEPTANCE = f"acceptance/{NGRAM}"
DRAFTER = "acceptance/fused_dflash"
NULL = "null_ratio/oracle_again"


def by_output_tokens(report: Report) -> Report:
    """Accepted drafts over emitted tokens, called acceptance."""
    rows = next(arm for arm in report.arms if arm.name == NGRAM).measurements
    said = [row.speculation for row in rows if row.speculation is not None]
    value = sum(one.accepted or 0 for one in said) / sum(one.committed or 0 for one in said)
    return set_claim(report, ACCEPTANCE, value=value, denominator="output_tokens")


def trained_on_them() -> Report:
    """A model drafter's acceptance on prompts of the templates that it was trained on, told so."""
    groups = ("own/a", "own/b")
    return judged(knowing_text(dflash(), groups, {"drafter": ("own/b", "own/c")}), DRAFTER)


def without_end_to_end(report: Report) -> Report:
    """The ratio that counts the prefill is deleted."""
    return report.replace(claims=tuple(one for one in report.claims if one.name != f"e2e_speedup/{NGRAM}"))


CASES: dict[str, RuleCase] = {
    "ACCEPTANCE_DENOMINATOR": stated(
        lambda: judged(code_of_five(), ACCEPTANCE),
        by_output_tokens,
        f"claims/{ACCEPTANCE}/value",
        f"claims/{ACCEPTANCE}/denominator",
    ),
    "CLAIM_NOT_REPRODUCIBLE": stated(
        lambda: judged(code()),
        lambda report: set_claim(report, f"decode_speedup/{NGRAM}", value=50.0),
        f"claims/decode_speedup/{NGRAM}/value",
    ),
    "CLAIM_LEFT_OUT": stated(lambda: judged(code()), without_end_to_end, f"claims/e2e_speedup/{NGRAM}"),
    "TRAIN_TEST_OVERLAP": stated(
        trained_on_them,
        lambda report: set_claim(report, DRAFTER, in_distribution="no"),
        f"claims/{DRAFTER}/in_distribution",
    ),
    "CLAIM_MISLABELLED": stated(
        lambda: judged(code()),
        lambda report: set_claim(report, NULL, name="decode_speedup/oracle_again"),
        "claims",
    ),
}
