"""What may not be said of a run, in words, and what to change first so that it may."""

from collections.abc import Sequence
from dataclasses import dataclass

from gate.judging.judge import JudgedClaim
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import find_rule
from gate.render.sentences import listed
from gate.rulebook.rule import Rule
from reports.untrusted.one_line import one_line

_FOLLOW = frozenset({"SPEEDUP_INTERVAL", "SPEEDUP_NULL_BAND"})
"""Rules that mostly break because too little was measured: another one that does is to be seen to first."""

_OF_NOISE = frozenset(
    {
        *_FOLLOW,
        "NULL_RATIO_OFF",
        "SPEEDUP_DRIFT",
        "SPEEDUP_ORDER",
        "SPEEDUP_PREFILL_UNEQUAL",
        "SPEEDUP_PREFILL_VARIANCE",
        "SPEEDUP_SAME_WORK",
    }
)
"""Rules that other programs break: where the machine was busy, nothing else is worth a change."""

_IDLE = "Run it again when nothing else runs on this machine."

_WORDS = {
    "decode_speedup": "the speed of {} in decoding",
    "e2e_speedup": "the speed of {} from end to end",
    "arm_ratio": "which arm is faster ({})",
    "oracle_recall": "the recall of the plain model",
    "native_baseline_recall": "the recall of {}",
    "restoration_recall": "what restoration recalls in {}",
    "arm_recall": "the recall of {}",
    "token_identity": "that the plain model says token for token the same as {}",
    "kv_saving": "the K/V bytes saved by {}",
    "acceptance": "how many drafts of {} were accepted",
    "drafter_parity": "whether the drafter proposes in {} what its reference proposes",
    "kv_codec_worthwhile": "the worth of a native kernel for {}",
    "smoke_steps": "in how many steps a server of {} does what the session protocol says",
    "tests_passed": "how many tests of {} passed",
    "rows_replayed": "how many rows of {} came out the same",
    "runtime_parity": "how many rows of {} came out the same on the other runtime",
}


_SPEEDS = frozenset({"decode_speedup", "e2e_speedup"})
_SPEED = "the speed of {}"
"""Where both are withheld of an arm; of one alone it is said which, since the other may stand beside it."""


@dataclass(frozen=True)
class Withheld:
    """Claims that one rule stands in the way of before others: what they are about, what it found, what to do."""

    what: str
    why: str
    change: str
    others: tuple[str, ...]


def withheld(file: JudgedFile) -> tuple[Withheld, ...]:
    """All that is withheld, by the rule to be satisfied first: the one that blocks the most claims."""
    asserted = [claim for claim in file.withheld if claim.metric != "null_ratio"]  # noise is nothing that is withheld
    left = [claim for claim in asserted if claim.withheld_by]
    groups = []
    while left:
        first = _first(left)
        blocked = [claim for claim in left if first in claim.withheld_by]
        groups.append(_group(file, first, blocked))
        left = [claim for claim in left if claim not in blocked]
    unclaimed = [claim for claim in asserted if not claim.withheld_by]
    if unclaimed:
        why, change = (
            "the report does not claim it, and no rule forbids it",
            "`k3 gate conclude` derives the claims anew.",
        )
        groups.append(Withheld(_what(unclaimed), why, change, others=()))
    return tuple(groups)


def _first(claims: Sequence[JudgedClaim]) -> str:
    codes = [code for claim in claims for code in claim.withheld_by]
    return min(dict.fromkeys(codes), key=lambda code: (code in _FOLLOW, -codes.count(code), code))


def _group(file: JudgedFile, code: str, claims: Sequence[JudgedClaim]) -> Withheld:
    rule = find_rule(code)
    return Withheld(
        what=_what(claims),
        why=_why(file, code, rule),
        change=_change(file, code, rule),
        others=tuple(sorted({other for claim in claims for other in claim.withheld_by} - {code})),
    )


def _change(file: JudgedFile, code: str, rule: Rule | None) -> str:
    if file.busy is not None and code in _OF_NOISE:
        return _IDLE
    return rule.fix if rule is not None else "judge the report with a K3 that knows this rule."


def _what(claims: Sequence[JudgedClaim]) -> str:
    arms: dict[str, dict[str, None]] = {}
    names = {claim.name for claim in claims}
    for claim in claims:
        metric, _, arm = claim.name.partition("/")
        both = metric in _SPEEDS and {f"{speed}/{arm}" for speed in _SPEEDS} <= names
        words = _SPEED if both else _WORDS.get(metric, "{}")
        arms.setdefault(words, {})[one_line(arm.replace("/", " against "))] = None
    return "; ".join(words.replace("{}", listed(tuple(names))) for words, names in arms.items())


def _why(file: JudgedFile, code: str, rule: Rule | None) -> str:
    """What the rule found."""
    said = [violation.message for violation in file.violations if violation.code == code]
    said += [reason.message for reason in file.reasons if reason.code == code]
    if not said:
        return rule.title if rule is not None else code
    return one_line(said[0] if len(said) == 1 else f"{said[0]} (and {len(said) - 1} more)", 600)
