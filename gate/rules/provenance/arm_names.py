"""Names and labels that are printed beside figures: plain, and promising nothing that the arm is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, foreign_peer
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import Threshold
from reports.drafters import DRAFTERS
from reports.engines import ENGINES
from reports.records.constants import NATIVE_BASELINE_LABEL
from reports.restorations import RESTORATIONS

if TYPE_CHECKING:
    from reports.records.measurement import Arm
    from reports.report import Report

_PLAIN = r"[a-z0-9][a-z0-9_-]{0,63}"
"""What presets may call an arm: nothing that looks like another letter, moves the cursor or ends a line."""

_NAME = r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}"
"""What a name in a report is made of, whoever gave it."""

_FIGURE = r"(?i)\d\s*(?:x\b|×|%|times\b|fold\b|percent\b|tok\w*\s*/\s*s)"

_BOASTS = (
    r"\d+x|x\d+|(?:\d|hundred|thousand|ten|nine|eight|seven|six|five|four|three|two|half|many)(?:times|fold|percent|pct)"
    r"|twice|thrice|faster|fastest|quicker|speedup|better|best|beats|winner|perfect"
)
"""What a name says of a figure or a rank, in digits or in words, once its separators are gone."""

_WORDS = (
    r"(?i)\b(?:twice|thrice|faster|fastest|quicker|quickest|speed-?up|best|better|beats|winner|perfect"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|many|hundred|thousand)[\s-]?(?:times|fold))\b"
)
"""The same in a text of words."""

_RIVALS = (
    "eagle", "medusa", "lookahead", "vllm", "sglang", "llamacpp", "tensorrt", "trtllm", "exllama", "ollama", "hydra",
    "kvpress", "snapkv", "h2o", "streamingllm", "turboquant", "kivi", "gptfast",
)  # fmt: skip
"""Engines and methods of others: an arm called so is not theirs."""

_LOOK_ALIKES = str.maketrans("013457", "oleast")
"""Digits that are read as letters."""

_OURS = frozenset(
    word
    for name in (*ENGINES, *DRAFTERS, *RESTORATIONS, "oracle", "native", "lookup")
    for word in re.split(r"[_-]", name)
    if len(word) > 2
)
"""Words that K3 itself gives to engines, drafters, modes and roles."""

LABEL_LENGTH = Threshold(
    "LABEL_LENGTH", 100, "characters", meaning="Of a label; what is longer is no label.", source="presets allow as many"
)


@evidence_rule(
    "NAME_UNFIT",
    title="A name or label that is not plain",
    catches="An arm whose name is not of lower-case letters, digits, `_` and `-`, tells a figure or a rank (`5x`, "
    "`twice_as_fast`), or is that of another project's engine or of one of K3's in look-alike letters; or whose label "
    "is not plain text, states a figure or a rank (`5x faster`), names another project's engine, or is "
    "`native_ar_baseline` in another spelling; or a preset, codec, served engine, runtime or suite of tests whose "
    "name is not plain or tells a figure or a rank.",
    why="Names stand in every headline: a Cyrillic `o` makes a second oracle, a line break a headline of its own.",
    fix="Name arms as presets do; say in the label what ran, and leave the figures to the gate.",
    example=Example(bad="labelled `k3 fused, 5x faster`", good="labelled `k3 fused, prompt lookup, blocks of 8`"),
    thresholds=(LABEL_LENGTH,),
)
def name_unfit(view: ReportView) -> Iterator[Finding]:
    """The name or the label of an arm says something by its spelling."""
    for arm in view.report.arms if not view.imported else ():
        if not re.fullmatch(_PLAIN, arm.name):
            shown = ascii(arm.name[:60])
            message = f"an arm is named {shown}; names are of lower-case letters, digits, _ and -"
            yield Finding(message, arm.name, None, "name", shown, "a plain name")
        elif (says := _promise(arm)) is not None:
            message = f"{arm.name}: its name {says}; figures and ranks are the gate's to tell"
            yield Finding(message, arm.name, None, "name", arm.name, "what ran")
        fault = _label_fault(arm) or _borrowed(view, arm)
        if fault is not None:
            shown = ascii((arm.system_under_test or "")[:60])
            message = f"{ascii(arm.name[:60])[1:-1]}: its label {shown} {fault}"
            yield Finding(message, arm.name, None, "system_under_test", shown, "what ran, in plain words")
    for field, name in _printed(view.report) if not view.imported else ():
        suite = field == "platform_tests.suite"  # which other tools name
        plain = name.isascii() and name.isprintable() if suite else re.fullmatch(_NAME, name) is not None
        if not plain or re.search(_FIGURE, name) or re.search(_WORDS, re.sub("[_.-]", " ", name)):
            shown = ascii(name[:60])
            message = f"{field}: {shown} is not plain, or tells a figure or a rank"
            yield Finding(message, None, None, field, shown, "what ran", severity="withheld" if suite else None)


def _printed(report: Report) -> Iterator[tuple[str, str]]:
    """Names beside those of arms that headlines and pages are made of, with their fields."""
    if report.preset is not None:
        yield "preset.name", report.preset.name
    for codec in report.kv_quant.arms if report.kv_quant is not None else ():
        yield "kv_quant.arms.name", codec.name
    if report.parity is not None:
        yield "parity.candidate_runtime", report.parity.candidate_runtime
        yield "parity.reference_runtime", report.parity.reference_runtime
    if report.runtime_smoke is not None and report.runtime_smoke.engine is not None:
        yield "runtime_smoke.engine", report.runtime_smoke.engine
    if report.platform_tests is not None:
        yield "platform_tests.suite", report.platform_tests.suite


def _promise(arm: Arm) -> str | None:
    """What the name promises, by its letters and by what its digits look like."""
    spelt = "".join(filter(str.isalnum, arm.name))
    boast = re.search(_BOASTS, spelt)
    if boast is not None:
        return f"says {boast[0]!r}"
    words = {word for word in re.split(r"[_-]", arm.name) if word}
    spellings = words | {re.sub(r"\d+$", "", word) for word in words}
    read = {word.translate(_LOOK_ALIKES) for word in spellings}
    rival = next((one for one in _RIVALS if one in read), None)
    if rival is not None:
        return f"is that of {rival}, which is not what ran"
    own = next((one for one in sorted(read - spellings) if one in _OURS), None)
    return f"reads like {own}" if own is not None else None


def _borrowed(view: ReportView, arm: Arm) -> str | None:
    """The label names another project's engine, which is not what ran."""
    words = set(re.split(r"[^a-z0-9]+", (arm.system_under_test or "").lower()))
    spellings = words | {word.rstrip("0123456789") for word in words}
    rival = next((one for one in _RIVALS if one in spellings), None)
    return f"names {rival}, which is not what ran" if rival is not None and not foreign_peer(view, arm) else None


def _label_fault(arm: Arm) -> str | None:
    label = arm.system_under_test
    if label is not None and arm.role in ("oracle", "null"):
        return f"is on an arm of role {arm.role}, which is presented as nothing else"
    if label is None or label == NATIVE_BASELINE_LABEL:
        return None
    if not (label.isascii() and label.isprintable()) or len(label) > LABEL_LENGTH.value:
        return "is not plain text"
    if re.sub(r"[\s_-]+", "_", label.strip()).lower() == NATIVE_BASELINE_LABEL:
        return f"is not {NATIVE_BASELINE_LABEL}, and reads like it"
    return "states a figure or a rank" if re.search(_FIGURE, label) or re.search(_WORDS, label) else None
