"""Spec-Bench answer files (JSONL): one method, a question a line, one row a turn, wall time with the prefill in it.

`accept_lengths` has one entry a step, over all turns of a choice; `decoding_steps` (older files: `idxs`) counts steps
a turn, and some methods write something else there. A turn that failed says ERROR and repeats the figures of the turn
before, or NaN, so its figures are dropped. A method that never commits more than one token a step is plain decoding;
any other drafts, with a drafter that the file does not name.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate

from reports.importers.base import (
    Foreign,
    Importer,
    Source,
    mark,
    parse_element,
    report_id,
    require,
)
from reports.records.measurement import Arm, DrafterInfo, Measurement, Speculation
from reports.records.plan import PromptRecord, WorkloadInfo
from reports.records.record import Count
from reports.report import Report
from reports.untrusted.one_line import one_line

FAILED = "ERROR"
DRAFTER = "not recorded"
NOTES = (
    "derived: steps a turn and their mean length, by cutting accept_lengths at decoding_steps where the two agree",
    "as the tool counts: wall_time is a whole turn with its prefill, new_tokens are all its tokens",
    "one method a file: there is no baseline, no claim and no ratio; choices are repeats, turns are samples",
    "not recorded: token ids, prompt lengths, prefill and decode apart, drafted tokens, order of runs, models, machine",
)


class Choice(Foreign):
    """`choices[]`; lists are parallel over turns, `accept_lengths` is over steps."""

    turns: list[str]
    new_tokens: list[Count]
    wall_time: list[float | None]
    decoding_steps: list[Count] | None = None
    idxs: list[Count] | None = None
    accept_lengths: list[Count] | None = None


class Answer(Foreign):
    """One line."""

    question_id: int | str | None = None
    model_id: str | None = None
    choices: list[Choice]
    tstamp: float | None = None


def _recognises(source: Source) -> bool:
    answers = source.value if source.lines else [source.value]
    return any(_is_answer(answer) for answer in answers)


def _is_answer(value: object) -> bool:
    if not isinstance(value, dict) or "kind" in value or "schema_version" in value:
        return False
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and bool({"wall_time", "new_tokens", "accept_lengths"} & first.keys())


def _load(source: Source) -> Report:
    values = source.value if source.lines else [source.value]
    answers = [parse_element(Answer, index, value) for index, value in enumerate(values)]
    rows: dict[str, list[Measurement]] = {}
    samples: dict[tuple[int | str, int], int] = {}
    repeats = Counter[tuple[str, int | str]]()
    for index, answer in enumerate(answers):
        arm = one_line(answer.model_id or "unnamed", 200)
        question = answer.question_id if answer.question_id is not None else f"line {index}"
        for place, choice in enumerate(answer.choices):
            numbers = [samples.setdefault((question, turn), len(samples)) for turn in range(len(choice.turns))]
            repeat = repeats[arm, question]
            repeats[arm, question] += 1
            rows.setdefault(arm, []).extend(_rows(choice, numbers, repeat, f"{index}.choices.{place}"))
    dates = [answer.tstamp for answer in answers if answer.tstamp is not None]
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        created_at=_time(min(dates)) if dates else None,
        imported=mark(IMPORTER.name, source, (*NOTES, *_failures(answers))),
        workload=WorkloadInfo(
            name=IMPORTER.name, prompts=tuple(PromptRecord(sample=number) for number in samples.values())
        ),
        arms=tuple(_arm(name, measured) for name, measured in rows.items()),
    )


def _arm(name: str, measured: list[Measurement]) -> Arm:
    """The arm of a method. One that commits a token a step, in every step, does not speculate."""
    said = [row.speculation for row in measured if row.speculation is not None]
    plain = all(one.committed == one.blocks for one in said)
    return Arm(
        name=name,
        role="peer",
        engine=IMPORTER.name,
        drafter=DrafterInfo(name=DRAFTER) if said and not plain else None,
        measurements=tuple(row.replace(speculation=None) if plain else row for row in measured),
    )


def _rows(choice: Choice, samples: Sequence[int], repeat: int, where: str) -> Iterator[Measurement]:
    steps = choice.decoding_steps if choice.decoding_steps is not None else choice.idxs
    for field, values in (
        ("new_tokens", choice.new_tokens),
        ("wall_time", choice.wall_time),
        ("decoding_steps", steps),
    ):
        found = len(values) if values is not None else len(choice.turns)
        require(found == len(choice.turns), f"{where}.{field}: {found} values for {len(choice.turns)} turns")
    lengths = _by_turn(choice.accept_lengths, steps, len(choice.turns))
    for turn, text in enumerate(choice.turns):
        failed = text == FAILED
        yield Measurement(
            sample=samples[turn],
            repeat=repeat,
            text=text,
            e2e_s=None if failed else choice.wall_time[turn],
            decode_tokens=None if failed else choice.new_tokens[turn],
            speculation=None if failed else _speculation(lengths[turn], choice.new_tokens[turn]),
        )


def _by_turn(lengths: Sequence[int] | None, steps: Sequence[int] | None, turns: int) -> Sequence[Sequence[int] | None]:
    """Accept lengths of each turn; of none if the steps do not say where one turn ends and the next begins."""
    if lengths is None:
        return [None] * turns
    if turns == 1:
        return [lengths]
    for offset in (0, 1):  # some methods number their last step from 0
        counts = [step + offset for step in steps or ()]
        if counts and sum(counts) == len(lengths):
            ends = list(accumulate(counts))
            return [lengths[end - count : end] for end, count in zip(ends, counts, strict=True)]
    return [None] * turns


def _speculation(lengths: Sequence[int] | None, new_tokens: int) -> Speculation | None:
    """Steps and their mean length. Where the lengths are not the tokens (a last step that was cut, steps that failed),
    only their mean is what the tool says; it is of nothing else in the row."""
    if not lengths:
        return None
    emitted = sum(lengths)
    counted = 0 <= new_tokens - emitted <= 1 and len(lengths) <= new_tokens
    return Speculation(
        blocks=len(lengths) if len(lengths) <= new_tokens else None,
        committed=emitted if counted else None,
        mean_accept_len=emitted / len(lengths),
        accept_len_counts="committed" if emitted == new_tokens else None,
    )


def _time(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _failures(answers: list[Answer]) -> Iterator[str]:
    failed = sum(text == FAILED for answer in answers for choice in answer.choices for text in choice.turns)
    if failed:
        yield f"{failed} turns failed with {FAILED}; their figures repeat another turn's and were dropped"


IMPORTER = Importer("spec-bench", _recognises, _load)
