"""`k3 gate rules`: the rules by code."""

from harness.commands.gate.printing import Json
from reports.printing.say import say


def command(json_output: Json = False) -> None:
    """List the rules, a line each."""
    from gate.judging.rule_set import RULE_SET, known_rules

    if json_output:
        import json

        from gate.explain.story import document

        print(json.dumps({"rule_set": RULE_SET, "rules": [document(rule) for rule in known_rules()]}, indent=1))
        return
    width = max(len(rule.code) for rule in known_rules())
    for rule in known_rules():
        say(f"{rule.code:<{width}}  {rule.severity:<8}  {rule.title}", hang=width + 12)
