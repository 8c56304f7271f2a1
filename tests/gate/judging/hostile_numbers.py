"""Judges honest reports in which one number is another one, within a bound on CPU time and memory; run as a module.

Each place of a number (all rows alike are one place) is given each hostile value. What is judged is told first, so that
the last line names the report that broke the bound.
"""

import json
import random
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gate.judging.judge_evidence import judge_evidence
from gate.render import json as json_format
from reports.reading.reader import evidence_of
from reports.report import report_bytes
from tests.gate import honest

HOSTILE = (2**53, 20_000_000, 10**30, -1, 0, 1e308, -1e308)
CPU_SECONDS = 20
MEMORY = 10**9
MOST = 100
"""Documents of each report that are judged, drawn from all of them."""

Place = tuple[str | int, ...]


def reports() -> Iterator[dict[str, Any]]:
    """One small honest report of each kind, as it stands in its file."""
    few = honest.Setup(samples=2, repeats=1)
    for build in (honest.honest_niah, honest.honest_code, honest.honest_parity, honest.honest_kv_quant):
        yield json.loads(report_bytes(build(few)))


def numbers(node: Any, place: Place = ()) -> Iterator[Place]:
    """Where the numbers of a document stand."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from numbers(value, (*place, key))
    elif type(node) in (int, float):
        yield place


def hostile(document: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """What was changed and the document with it: one number, or the counts of a plan against each other."""
    kinds = {tuple("*" if isinstance(key, int) else key for key in place): place for place in numbers(document)}
    edits = [((place, value),) for place in kinds.values() for value in HOSTILE]
    edits = random.Random(1).sample(edits, min(MOST, len(edits)))
    counts = [("plan", name) for name in ("samples", "repeats", "processes") if name in document.get("plan", {})]
    edits += [((one, 2**53), (other, 0)) for one in counts for other in counts if one != other]
    for edit in edits:
        before = [(place, put(document, place, value)) for place, value in edit]
        yield str(edit), json.dumps(document).encode()
        for place, value in before:
            put(document, place, value)


def put(document: Any, place: Place, value: Any) -> Any:
    """Put `value` there; what stood there."""
    for key in place[:-1]:
        document = document[key]
    before, document[place[-1]] = document[place[-1]], value
    return before


def main() -> None:
    """Judge them all; a report that takes too much ends the process, a rule that fails is printed as FAILED."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for document in reports():
        for told, data in hostile(document):
            print(told, flush=True)
            judged = judge_evidence(evidence_of(data, Path("hostile.json")))
            if "the rule itself failed" in json_format.render([judged]):
                print(f"FAILED {told}", flush=True)


if __name__ == "__main__":
    main()
