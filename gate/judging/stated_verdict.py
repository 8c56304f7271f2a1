"""The gate block that a report states, against the one that this gate derives."""

from collections.abc import Iterable

from gate.judging.apply_rules import RuleHit, names_of
from gate.judging.rule_set import RULE_SET, find_rule
from gate.judging.verdicts import asserted_names, blockers_of, verdict_of, violations_of
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Finding
from gate.rules.parity.shown_parity import PARITY_REQUIRED
from gate.rules.plan.shipped_preset import PRESET_UNKNOWN
from gate.rules.provenance.plugins import PLUGIN_ABSENT
from reports.plugins.entry_points import is_plugin_id
from reports.records.verdict import Violation
from reports.untrusted.one_line import one_line

SHOWN_NAMES = 2
NAME_LENGTH = 60
"""Of what a gate block states and this gate does not find, or the reverse: so many are named, in so many characters."""


def _outside(code: str) -> bool:
    """The rule depends on reports beside the judged one, or on which presets or plug-ins this K3 has."""
    return code in (PARITY_REQUIRED, PRESET_UNKNOWN) or is_plugin_id(code)


def unlike_stated(view: ReportView, hits: list[RuleHit]) -> list[RuleHit]:
    """Where the gate block and the reasons for withholding that a report states are not what this gate derives.

    A report that needs a plug-in which is here or was there alone, where it was judged, is not compared: one of the two
    knew more. A client need not have the plug-ins of the server that it measures.
    What other reports show, what plug-ins find, and whether the preset ships is left out on both sides: it may have
    become known, the plug-in may be missing here, and a later K3 may ship another preset under that name.
    """
    stated = view.report.gate
    hits = [hit for hit in hits if not _outside(hit.rule.code)]
    rule = find_rule("CLAIM_NOT_REPRODUCIBLE")
    if stated is None or stated.rule_set != RULE_SET or rule is None:
        return []
    lacked_there = any(one.code == PLUGIN_ABSENT for one in stated.violations) and _names_plugins(view)
    if lacked_there or any(hit.rule.code == PLUGIN_ABSENT for hit in hits):
        return []
    asserted = asserted_names(view.report)
    broken = [hit for hit in hits if hit.is_violation(asserted)]
    derived = violations_of(broken, asserted)
    verdict = verdict_of({hit.severity for hit in broken})
    findings = []
    claimed = tuple(violation for violation in stated.violations if not _outside(violation.code))
    only_outside = stated.verdict == "withheld" and stated.violations and not claimed
    if stated.verdict != verdict and not (only_outside and verdict == "admissible"):
        findings.append(_forged("gate.verdict", stated.verdict, verdict))
    ours, theirs = _codes_and_claims(derived), _codes_and_claims(claimed)
    if ours != theirs:
        findings.append(_forged("gate.violations", _shortly(theirs - ours), _shortly(ours - theirs)))
    blockers = blockers_of(view.report.claims, hits, ())
    for claim in view.report.claims:
        stated_codes = {code for code in claim.withheld_by if not _outside(code)}
        codes = blockers[claim.name]
        if stated_codes != codes and claim.status == "withheld":
            shown = _shortly(stated_codes - codes), _shortly(codes - stated_codes)
            findings.append(_forged(f"claims.{claim.name}.withheld_by", *shown))
    return [RuleHit(rule, finding, names_of(view.report.claims)) for finding in findings]


def _names_plugins(view: ReportView) -> bool:
    return bool(view.plugins_of(None)) or any(view.plugins_of(arm) for arm in view.report.arms)


def _shortly(names: Iterable[str]) -> str:
    """The first of the names, whole, and how many others there are."""
    listed = sorted(names)
    more = f" and {len(listed) - SHOWN_NAMES} more" if len(listed) > SHOWN_NAMES else ""
    return ", ".join(one_line(name, NAME_LENGTH) for name in listed[:SHOWN_NAMES]) + more


def _codes_and_claims(violations: Iterable[Violation]) -> set[str]:
    return {f"{v.code}({', '.join(sorted(v.claims))})" for v in violations}


def _forged(field: str, found: str, allowed: str) -> Finding:
    found, allowed = one_line(found or "none", 120), one_line(allowed or "none", 120)
    message = f"{field}: the report states {found}; judged again by the same rules it is {allowed}"
    return Finding(message, field=one_line(field, 200), found=found, allowed=allowed, severity="invalid")
