"""SARIF 2.1.0 for code scanning: every rule with its help, a result a violation, paths relative to a base."""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gate.explain.story import markdown_story, text_story
from gate.judging.judged_file import WARNINGS, JudgedFile
from gate.judging.rule_set import RULE_SET, known_rules
from gate.render.text import described
from gate.rulebook.rule import Rule
from reports.records.verdict import Violation
from reports.untrusted.one_line import one_line

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(files: Sequence[JudgedFile], base: Path) -> str:
    """The log as ASCII JSON; files under `base` are named relative to it."""
    rules = known_rules()
    places = {rule.code: index for index, rule in enumerate(rules)}
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "k3 gate",
                        "semanticVersion": f"{RULE_SET}.0.0",
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(file, each, places, base) for file in files for each in file.violations],
            }
        ],
    }
    return json.dumps(log, indent=1, allow_nan=False) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.catches},
        "help": {"text": text_story(rule), "markdown": markdown_story(rule)},
        "defaultConfiguration": {"level": "warning" if rule.code in WARNINGS else "error"},
        "properties": {"since": rule.since, "severity": rule.severity, "blocks": list(rule.blocks)},
    }


def _result(file: JudgedFile, violation: Violation, places: dict[str, int], base: Path) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": violation.code,
        "level": "warning" if violation.code in WARNINGS else "error",
        "message": {"text": described(violation)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": relative_uri(file.path, base), "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 1},
                },
                **_logical(violation),
            }
        ],
        "partialFingerprints": {"k3GateFinding/v1": _fingerprint(file, violation)},
    }
    if violation.code in places:
        result["ruleIndex"] = places[violation.code]
    return result


def _logical(violation: Violation) -> dict[str, Any]:
    parts = [("arm", violation.arm), ("sample", violation.sample), ("field", violation.field)]
    name = "/".join(one_line(f"{kind} {value}") for kind, value in parts if value is not None)
    return {"logicalLocations": [{"fullyQualifiedName": name, "kind": "member"}]} if name else {}


def relative_uri(path: str, base: Path) -> str:
    """`path` as a relative URI reference seen from `base`, percent-encoded byte by byte."""
    seen = os.path.relpath(path, base)
    encoded = quote(os.fsencode(seen.replace(os.sep, "/")), safe="/")
    return f"./{encoded}" if ":" in encoded.split("/")[0] else encoded


def _fingerprint(file: JudgedFile, violation: Violation) -> str:
    place = [os.path.basename(file.path), violation.code, violation.arm, violation.sample, violation.field]
    return hashlib.sha256(json.dumps(place).encode()).hexdigest()
