"""`k3 gate explain`: the story of one rule, or of one kind of claim, or what a word means."""

import re
from collections.abc import Iterable
from typing import Annotated

import typer

from harness.base.errors import UsageError
from reports.printing.say import say
from reports.untrusted.nearest import nearest
from reports.untrusted.one_line import one_line


def command(
    asked: Annotated[
        list[str],
        typer.Argument(
            metavar="CODE|WORD", help="A code of `k3 gate rules`, one of `k3 gate claims`, or a word or two."
        ),
    ],
) -> None:
    """Explain a rule, a claim or a word.

    What a rule catches, why it exists and how to satisfy it; what a claim asserts and how it is made; what a word
    means.
    """
    from gate.explain.glossary import find_word, words
    from gate.explain.story import claim_story, rule_story
    from gate.judging.rule_set import find_rule, known_rules
    from gate.rulebook.claim_kinds import CLAIM_KINDS, kind_of_claim
    from gate.rulebook.retired_codes import RETIRED_CODES

    code = " ".join(asked)
    wanted = code.strip().upper()
    rule, kind = (
        find_rule(re.sub(r"[\s-]+", "_", wanted)) or find_rule(code.strip()),
        kind_of_claim(re.sub(r"[\s-]+", "_", code.strip().lower())),
    )
    if not wanted:
        raise UsageError("which rule or claim? see `k3 gate rules` and `k3 gate claims`")
    if rule is not None:
        _tell(f"{rule.code}: {rule.title}", rule_story(rule))
    elif kind is not None:
        _tell(f"{kind.metric}: {kind.title}", claim_story(kind))
    elif (word := find_word(code)) is not None:
        say(f"{word.term}: {word.means}", page=True)
    elif wanted in RETIRED_CODES:
        say(f"{wanted}: retired. {RETIRED_CODES[wanted]}", page=True)
    else:
        names = [*(each.code for each in known_rules()), *CLAIM_KINDS, *(each.term for each in words())]
        begun = [name for name in names if name.upper().startswith(wanted)][:5]
        near = ", ".join(begun) or nearest(wanted, names)
        hint = f"did you mean {near}?" if near else "see `k3 gate rules`, `k3 gate claims` and docs/glossary.md"
        raise UsageError(f"there is no rule, claim or word {one_line(code, 80)}; {hint}")


def _tell(title: str, story: Iterable[tuple[str, str]]) -> None:
    say(title, page=True)
    say("")
    for label, text in story:
        say(f"{label:<9}  {text}", hang=11, page=True)
