"""Rows of a page: what was asked and answered, where a stream leaves the oracle's, and which tokens were drafted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.render.headline import three_digits
from gate.rules.streams.departure import departure
from reports.records.measurement import Measurement
from reports.records.plan import PromptRecord
from reports.report import Report

MOST_ROWS = 300
"""Rows of one arm on a page; of more, the first ones are shown and the rest is counted."""

MOST_TOKENS = 400
"""Tokens of a stream that are spelled out."""


@dataclass(frozen=True)
class Run:
    """Tokens that came the same way: `accepted` drafts, or the verifier's own."""

    tokens: str
    accepted: bool


@dataclass(frozen=True)
class ShownRow:
    """One row: its figures in words, and its text in two parts, the second from where it leaves the oracle's."""

    cells: tuple[str, ...]
    same: str
    other: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class ShownArm:
    """The rows of an arm."""

    name: str
    rows: tuple[ShownRow, ...]
    count: int


ROW_COLUMNS = (
    "sample",
    "repeat",
    "process",
    "order",
    "prompt",
    "prefill s",
    "decode s",
    "tokens",
    "expected",
    "correct",
    "stopped by",
    "leaves the oracle at token",
)


def shown_arms(report: Report) -> Iterator[ShownArm]:
    """Every arm with its rows; a stream is spelled out in the first repeat of a sample alone."""
    oracle = next((arm for arm in report.arms if arm.role == "oracle"), None)
    truth = {row.sample: row for row in reversed(oracle.measurements)} if oracle is not None else {}
    prompts = {(one.prompt_set, one.sample): one for one in report.workload.prompts} if report.workload else {}
    for arm in report.arms:
        spelled: set[int] = set()
        rows = []
        for row in arm.measurements[:MOST_ROWS]:
            compared = truth.get(row.sample) if arm.prompt_set == "main" and arm is not oracle else None
            prompt = prompts.get((arm.prompt_set, row.sample))
            rows.append(_shown(row, prompt, compared, spell=row.sample not in spelled))
            spelled.add(row.sample)
        yield ShownArm(arm.name, tuple(rows), len(arm.measurements))


def _shown(row: Measurement, prompt: PromptRecord | None, truth: Measurement | None, *, spell: bool) -> ShownRow:
    left = departure(row, truth) if truth is not None else None
    text, said = row.text or "", truth.text or "" if truth is not None else row.text or ""
    shared = _shared(text, said)
    cells = (
        str(row.sample),
        str(row.repeat),
        str(row.process),
        _plain(row.order),
        (row.prompt_digest or "").removeprefix("sha256:")[:12],
        three_digits(row.prefill_s) if row.prefill_s is not None else "",
        three_digits(row.decode_s) if row.decode_s is not None else "",
        _plain(row.decode_tokens),
        (prompt.answer or "") if prompt is not None else "",
        {True: "yes", False: "no", None: ""}[row.correct],
        row.stop_reason or "",
        _plain(left),
    )
    return ShownRow(cells, text[:shared] if spell else "", text[shared:], tuple(_runs(row)) if spell else ())


def _runs(row: Measurement) -> Iterator[Run]:
    """The stream of a row that drafted, cut where accepted drafts end and the verifier's own token stands."""
    rounds, tokens = row.speculation.rounds if row.speculation is not None else None, row.token_ids
    if not rounds or tokens is None:
        return
    yield Run(_spelled(tokens[:1]), accepted=False)
    at = 1
    for block in rounds:
        if at >= min(len(tokens), MOST_TOKENS):
            return
        accepted = min(block.accepted, block.committed, MOST_TOKENS)
        if accepted:
            yield Run(_spelled(tokens[at : at + accepted]), accepted=True)
        own = min(block.committed, MOST_TOKENS) - accepted
        if own > 0:
            yield Run(_spelled(tokens[at + accepted : at + accepted + own]), accepted=False)
        at += block.committed


def _spelled(tokens: Sequence[int]) -> str:
    return " ".join(map(str, tokens))


def _shared(text: str, other: str) -> int:
    """Characters that two texts begin alike with."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(text), len(other)))


def _plain(value: int | None) -> str:
    return str(value) if value is not None else ""
