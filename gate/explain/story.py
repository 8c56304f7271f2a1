"""The whole story of a rule, as `k3 gate explain`, SARIF help and docs/rules.md tell it."""

from collections.abc import Iterator
from typing import Any

from gate.judging.rule_set import all_rules
from gate.rulebook.claim_kinds import ClaimKind
from gate.rulebook.rule import ALL_METRICS, Rule, Severity
from gate.rulebook.thresholds import AnyThreshold

SEVERITIES: dict[Severity, str] = {
    "invalid": "the evidence is broken, and nothing of the report may be quoted; a finding that something is only "
    "missing counts as withheld",
    "withheld": "the evidence may be honest; what the rule blocks may not be quoted until it is satisfied",
    "legacy": "a warning; nothing of the file may ever be quoted",
}
"""What the verdict on a report comes to if it breaks a rule of that severity."""


def rule_story(rule: Rule) -> Iterator[tuple[str, str]]:
    """Label and text of each part of the story, in the order it is told."""
    yield "Catches", rule.catches
    yield "Why", rule.why
    yield "Fix", rule.fix
    yield "Blocks", blocked(rule)
    yield "Severity", f"{rule.severity}: {SEVERITIES[rule.severity]}"
    yield "Since", f"rule set {rule.since}"
    for threshold in rule.thresholds:
        yield "Threshold", threshold_line(threshold)
    yield "Bad", rule.example.bad
    yield "Good", rule.example.good


def claim_story(kind: ClaimKind) -> Iterator[tuple[str, str]]:
    """The same of a kind of claim: what it asserts, how it is computed, which rules stand in its way."""
    yield "Asserts", kind.asserts
    yield "Computed", kind.computed
    own, common = blockers(kind.metric)
    yield "Blocked", ", ".join(own) or "by no rule of its own"
    yield "And by", f"the {len(common)} rules that block every claim; `k3 gate claims --json` lists them"


def blockers(metric: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Codes of the rules that block claims of `metric` among others, and of those that block every claim."""
    rules = [rule for rule in all_rules() if metric in rule.blocks]
    common = tuple(rule.code for rule in rules if set(rule.blocks) == set(ALL_METRICS))
    return tuple(rule.code for rule in rules if rule.code not in common), common


def claim_document(kind: ClaimKind) -> dict[str, Any]:
    """A kind of claim as JSON values, for `k3 gate claims --json`."""
    own, common = blockers(kind.metric)
    return {
        "metric": kind.metric,
        "title": kind.title,
        "asserts": kind.asserts,
        "computed": kind.computed,
        "blocked_by": sorted((*own, *common)),
    }


def kind_of(rule: Rule) -> str:
    """`evidence`, `claim`, or `file` for what no report alone can break."""
    if rule.evidence is not None:
        return "evidence"
    return "claim" if rule.claim is not None else "file"


def blocked(rule: Rule) -> str:
    """Metrics of the claims that the rule blocks, in words. Where evidence is broken that is every claim there is."""
    if set(rule.blocks) == set(ALL_METRICS):
        return "every claim"
    return ", ".join(rule.blocks) + ("; if the evidence is broken, every claim" if rule.severity == "invalid" else "")


def threshold_line(threshold: AnyThreshold) -> str:
    """`MIN_REPEATS = 3 (repeats): what it bounds. Source: why it is this number.`"""
    told = f"{threshold.name} = {threshold.value:g} ({threshold.unit}): {threshold.meaning}"
    return f"{told} Source: {threshold.source}."


def text_story(rule: Rule) -> str:
    """The story in plain lines, the code and title first."""
    lines = [f"{rule.code}: {rule.title}", *(f"{label}: {text}" for label, text in rule_story(rule))]
    return "\n".join(lines)


def markdown_story(rule: Rule) -> str:
    """The story as a Markdown list, without a heading."""
    return "\n".join(f"- **{label}.** {plain_markdown(text)}" for label, text in rule_story(rule))


def markdown_claim(kind: ClaimKind) -> str:
    """What a kind of claim is, as a Markdown list; the rules that block every claim are left to the table of rules."""
    own, _ = blockers(kind.metric)
    links = ", ".join(f"[{code}](#{code.lower()})" for code in own) or "by no rule of its own"
    parts = (
        ("Asserts", plain_markdown(kind.asserts)),
        ("Computed", plain_markdown(kind.computed)),
        ("Blocked by", links),
    )
    return "\n".join(f"- **{label}.** {text}" for label, text in parts)


def plain_markdown(text: str) -> str:
    """Declared text is ours and plain; only what Markdown would read as tags or emphasis is escaped, and in code, which
    it shows as it is, nothing."""
    parts = text.split("`")
    parts[::2] = [part.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_") for part in parts[::2]]
    return "`".join(parts)


def document(rule: Rule) -> dict[str, Any]:
    """The story as JSON values, for `k3 gate rules --json`."""
    return {
        "code": rule.code,
        "title": rule.title,
        "kind": kind_of(rule),
        "severity": rule.severity,
        "catches": rule.catches,
        "why": rule.why,
        "fix": rule.fix,
        "blocks": list(rule.blocks),
        "since": rule.since,
        "thresholds": {threshold.name: threshold.value for threshold in rule.thresholds},
        "bad": rule.example.bad,
        "good": rule.example.good,
    }
