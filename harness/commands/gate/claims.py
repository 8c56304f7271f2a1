"""`k3 gate claims`: the kinds of claims by metric."""

import json

from harness.commands.gate.printing import Json
from reports.printing.say import say


def command(json_output: Json = False) -> None:
    """List the kinds of claims, a line each."""
    from gate.rulebook.claim_kinds import CLAIM_KINDS

    if json_output:
        from gate.explain.story import claim_document

        print(json.dumps([claim_document(kind) for kind in CLAIM_KINDS.values()], indent=1))
        return
    width = max(map(len, CLAIM_KINDS))
    for kind in CLAIM_KINDS.values():
        say(f"{kind.metric:<{width}}  {kind.title}", hang=width + 2)
