"""Every claim of a report with what it stands on, and what each of its kinds and codes means."""

from collections.abc import Iterator
from dataclasses import dataclass

from gate.explain.story import claim_story, rule_story
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import find_rule
from gate.render.headline import headline_line
from gate.render.text import described
from gate.rulebook.claim_kinds import CLAIM_KINDS


@dataclass(frozen=True)
class ShownClaim:
    """A claim as the page shows it: admitted with its figures, or withheld with its codes."""

    name: str
    title: str
    state: str
    stands_on: str = ""
    hurdles: tuple["Hurdle", ...] = ()


@dataclass(frozen=True)
class Hurdle:
    """A rule that stands in the way of claims: its title, what it found, and what to do. Told once a page."""

    code: str
    title: str
    found: tuple[str, ...]
    fix: str


@dataclass(frozen=True)
class Story:
    """What a code or a kind of claim means: a heading, and parts with a label and a text each."""

    heading: str
    parts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BrokenRule:
    """A rule that the report breaks: each place, and its story, where it is a rule that we know."""

    code: str
    title: str
    found: tuple[str, ...]
    story: Story | None


def shown_claims(judged: JudgedFile) -> Iterator[ShownClaim]:
    """Headlines, then what is withheld, then what is admitted and says nothing of a system."""
    for admitted in judged.headlines:
        claim = admitted.claim
        stands_on = headline_line(admitted).partition(" = ")[2]
        yield ShownClaim(claim.name, _title(claim.name.partition("/")[0]), "admitted", stands_on)
    refused = {claim.name for claim in judged.withheld}
    hurdles = {one.code: one for one in hurdles_of(judged)}
    for one in judged.withheld:
        stands_on = "" if one.withheld_by else "not claimed; no rule forbids it"
        its = tuple(hurdles[code] for code in one.withheld_by)
        yield ShownClaim(one.name, _title(one.metric), "withheld", stands_on, its)
    headlined = {admitted.claim.name for admitted in judged.headlines}
    for one in judged.claims:
        if one.name not in refused | headlined:
            yield ShownClaim(one.name, _title(one.metric), "no headline", "it says nothing of a system")


def hurdles_of(judged: JudgedFile) -> tuple[Hurdle, ...]:
    """Every rule that withholds a claim, by its code."""
    codes = sorted({code for claim in judged.withheld for code in claim.withheld_by})
    return tuple(_hurdle(judged, code) for code in codes)


def _hurdle(judged: JudgedFile, code: str) -> Hurdle:
    rule = find_rule(code)
    found = [violation.message for violation in judged.violations if violation.code == code]
    found += [finding for reason in judged.reasons if reason.code == code for finding in reason.findings]
    title, fix = (rule.title, rule.fix) if rule is not None else ("A rule that this K3 does not know", "")
    return Hurdle(code, title, tuple(dict.fromkeys(found)), fix)


def broken_rules(judged: JudgedFile) -> Iterator[BrokenRule]:
    """The rules that the report breaks, in the order in which they were found."""
    for code in dict.fromkeys(violation.code for violation in judged.violations):
        rule = find_rule(code)
        found = tuple(described(each) for each in judged.violations if each.code == code)
        story = Story(f"About {code}", tuple(rule_story(rule))) if rule is not None else None
        yield BrokenRule(code, rule.title if rule is not None else "", found, story)


def meanings(judged: JudgedFile) -> Iterator[Story]:
    """Every kind of claim in the report, and every code that withholds one and is explained nowhere else."""
    for metric in dict.fromkeys(claim.metric for claim in judged.claims):
        kind = CLAIM_KINDS[metric]
        yield Story(f"{kind.metric}: {kind.title}", tuple(claim_story(kind)))
    told = {violation.code for violation in judged.violations}
    for code in sorted({code for claim in judged.claims for code in claim.withheld_by} - told):
        rule = find_rule(code)
        if rule is not None:
            yield Story(f"{code}: {rule.title}", tuple(rule_story(rule)))


def _title(metric: str) -> str:
    return CLAIM_KINDS[metric].title if metric in CLAIM_KINDS else metric
