"""Edits that a careful cheat would make by hand, written down as data and done to the committed evidence.

`handmade_edits.txt` has one a line: `base|what it is|edit ;; edit ...`. An edit is `path = JSON`, `path *= number`,
`path += number or text`, `path <- path`, `del path`, or `!name` for what must be derived again. In a path, `*` is every
element, a number or a name (also a role or prompt set) picks those of a list, `+` appends to it.
"""

import copy
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gate.judging.judge import conclude
from reports.report import load_report
from tests.gate.edits import document

EVIDENCE = Path(__file__).parents[2] / "reports" / "evidence"
BASES = {"niah": "demo-smollm2.json", "code": "code-ngram-smollm2.json"}
EDITS = Path(__file__).with_name("handmade_edits.txt")
_EDIT = re.compile(r"(?:del (\S+)|(\S+) (=|\*=|\+=|<-) (.*))", re.DOTALL)
_SUMMED = ("drafted", "accepted", "committed", "draft_s", "verify_s", "extend_s", "rollback_s")

Place = tuple[Any, Any]
"""A dict or list, and the key or index in it."""


@dataclass(frozen=True)
class HandMade:
    """One line of the file: the edits in their order, and what they come to."""

    base: str
    what: str
    edits: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The evidence with the edits done to it."""
        made = copy.deepcopy(evidence(self.base))
        for edit in self.edits:
            do(made, edit)
        return made


def handmade() -> tuple[HandMade, ...]:
    """Every line of the file but comments."""
    lines = EDITS.read_text(encoding="utf-8").split("\n")
    parts = [line.split("|", 2) for line in lines if line and not line.startswith("#")]
    return tuple(HandMade(base, what, tuple(edits.split(" ;; "))) for base, what, edits in parts)


@cache
def evidence(base: str) -> dict[str, Any]:
    """The document of a committed report, its claims and gate block by the rules of today."""
    return document(conclude(load_report(EVIDENCE / BASES[base])))


def do(document: dict[str, Any], edit: str) -> None:
    """One edit; one that finds nothing to do is a mistake in the file."""
    if edit.startswith("!"):
        name, *arguments = edit[1:].split(" ", 2)
        DERIVED[name](document, *arguments)
        return
    found = _EDIT.fullmatch(edit)
    assert found is not None, edit
    removed, path, how, value = found.groups()
    places = list(_places(document, (removed or path).split(".")))
    assert places, edit
    for holder, key in reversed(places):
        if removed is not None:
            del holder[key]
        else:
            _set(document, holder, key, how, value)


def _set(document: dict[str, Any], holder: Any, key: Any, how: str, value: str) -> None:
    if how == "<-":
        source, name = next(_places(document, value.split(".")))
        new = copy.deepcopy(source[name])
    elif how == "=":
        new = json.loads(value)
    else:
        new = holder[key] * json.loads(value) if how == "*=" else holder[key] + json.loads(value)
        new = round(new) if isinstance(holder[key], int) else new
    if isinstance(holder, list) and key == len(holder):
        holder.append(new)
    else:
        holder[key] = new


def _places(node: Any, path: list[str]) -> Iterator[Place]:
    head, rest = path[0], path[1:]
    for key in _keys(node, head, deep=bool(rest)):
        if rest:
            yield from _places(node[key], rest)
        else:
            yield node, key


def _keys(node: Any, head: str, *, deep: bool) -> list[Any]:
    if isinstance(node, dict):
        return [head] if not deep or head in node else []
    if head == "*":
        return list(range(len(node)))
    if head == "+":
        return [len(node)]
    if re.fullmatch(r"\d+", head):
        return [int(head)]
    names = ("name", "arm", "prompt_set")
    return [at for at, one in enumerate(node) if isinstance(one, dict) and head in [one.get(name) for name in names]]


def _rows(document: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for arm in document["arms"]:
        for row in arm["measurements"]:
            yield arm, row


def _sums(document: dict[str, Any]) -> None:
    """End-to-end times from their stages."""
    for _, row in _rows(document):
        row["e2e_s"] = sum(row.get(name) or 0.0 for name in ("prefill_s", "decode_s", "restoration_s", "aux_s"))


def _digest(document: dict[str, Any]) -> None:
    """The digest of the workload."""
    prompts = document["workload"]["prompts"]
    lines = (f"{p['sample']}|{p['prompt_set']}|{p.get('digest')}|{p.get('answer') or ''}" for p in prompts)
    document["workload"]["digest"] = "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _asked(document: dict[str, Any]) -> None:
    """Digests and lengths of the rows from the prompts."""
    prompts = {(p["prompt_set"], p["sample"]): p for p in document["workload"]["prompts"]}
    for arm, row in _rows(document):
        prompt = prompts[arm["prompt_set"], row["sample"]]
        row |= {"prompt_tokens": prompt["token_count"], "prompt_digest": prompt["digest"]}


def _order(document: dict[str, Any]) -> None:
    """The order of the plan from the rows, without gaps."""
    rows = sorted(_rows(document), key=lambda pair: pair[1]["order"])
    for place, (_, row) in enumerate(rows):
        row["order"] = place
    runs = [{"arm": arm["name"], "sample": row["sample"], "repeat": row["repeat"]} for arm, row in rows]
    document["plan"]["order"] = runs


def _counts(document: dict[str, Any]) -> None:
    """Totals of speculative decoding from the blocks."""
    for _, row in _rows(document):
        said = row.get("speculation")
        if said is not None:
            blocks = said["rounds"]
            said |= {name: sum(block[name] for block in blocks) for name in _SUMMED}
            said |= {"blocks": len(blocks), "mean_accept_len": said["committed"] / len(blocks)}


def _rename(node: Any, old: str, new: str) -> None:
    """An arm, wherever it is named; `new` is the inside of a JSON string."""
    name = json.loads(f'"{new}"')
    for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if isinstance(value, dict | list):
            _rename(value, old, new)
        elif key in ("name", "arm", "baseline", "control") and value == old:
            node[key] = name
        elif key == "name" and isinstance(value, str) and value.endswith(f"/{old}"):
            node[key] = value.removesuffix(old) + name


def _one_prompt(document: dict[str, Any]) -> None:
    """The rows of sample 0, under the numbers of the others, with digests of their own."""
    prompts = document["workload"]["prompts"]
    for prompt in prompts:
        prompt["digest"] = "sha256:" + hashlib.sha256(str(prompt["sample"]).encode()).hexdigest()
        prompt["token_count"] = prompts[0]["token_count"]
    for arm in document["arms"]:
        source = [row for row in arm["measurements"] if row["sample"] == 0]
        for row in arm["measurements"]:
            copied = source[row["sample"] % len(source)]
            names = ("token_ids", "text", "speculation", "kv_bytes_prefill", "kv_bytes_decode")
            row |= {name: copy.deepcopy(copied[name]) for name in names if name in copied}
    _asked(document)
    _digest(document)


DERIVED: dict[str, Callable[..., None]] = {
    "sums": _sums,
    "digest": _digest,
    "lengths": _asked,
    "order": _order,
    "counts": _counts,
    "rename": _rename,
    "one_prompt": _one_prompt,
}
