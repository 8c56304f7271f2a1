"""`k3 gate explain`: the story of one rule, or of one kind of claim, or what a word means."""

import re
import textwrap
from typing import Annotated

import typer

from harness.base.errors import UsageError
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
        print(f"{rule.code}: {rule.title}\n")
        for label, text in rule_story(rule):
            print(_wrapped(label, text))
    elif kind is not None:
        print(f"{kind.metric}: {kind.title}\n")
        for label, text in claim_story(kind):
            print(_wrapped(label, text))
    elif (word := find_word(code)) is not None:
        print(textwrap.fill(f"{word.term}: {word.means}", 100, break_on_hyphens=False))
    elif wanted in RETIRED_CODES:
        print(f"{wanted}: retired. {RETIRED_CODES[wanted]}")
    else:
        names = [*(each.code for each in known_rules()), *CLAIM_KINDS, *(each.term for each in words())]
        begun = [name for name in names if name.upper().startswith(wanted)][:5]
        near = ", ".join(begun) or nearest(wanted, names)
        hint = f"did you mean {near}?" if near else "see `k3 gate rules`, `k3 gate claims` and docs/glossary.md"
        raise UsageError(f"there is no rule, claim or word {one_line(code, 80)}; {hint}")


def _wrapped(label: str, text: str) -> str:
    indent = " " * 11
    return textwrap.fill(text, 100, initial_indent=f"{label:<9}  ", subsequent_indent=indent, break_on_hyphens=False)
