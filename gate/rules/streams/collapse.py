"""Streams that collapsed into a repeat."""

from collections.abc import Iterator

from gate.claims.counted_prompts import without_loops
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, foreign_peer
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import (
    DEGENERATE_LINE_LENGTH,
    DEGENERATE_LINES,
    DEGENERATE_REPEATS,
    DEGENERATE_UNIT,
    Threshold,
)
from reports.scoring.collapse import is_degenerate

REPEATED_TOKENS = Threshold(
    "REPEATED_TOKENS",
    4,
    "tokens",
    meaning="Longest unit of tokens whose repetition at the tail of a stream is looked for.",
    source="a token is two characters or more, and a unit of text has eight",
)


@evidence_rule(
    "OUTPUT_DEGENERATE",
    title="A stream that collapsed into a repeat",
    catches=f"A text of an arm under test with {DEGENERATE_LINES.value} or more short equal lines, or a unit of "
    f"up to {DEGENERATE_UNIT.value} characters {DEGENERATE_REPEATS.value} or more times at its tail; or tokens that "
    f"end in as many repeats of up to {REPEATED_TOKENS.value} of them.",
    why="A runaway repeat is accepted draft after draft: it inflates accept lengths, and the answer before it is luck.",
    fix="Ask other prompts if the plain model collapses, too; if not, find the fault. Left out by itself is only a "
    "code prompt that the plain model answers in a loop of 32 tokens or more.",
    severity="withheld",
    example=Example(bad="`la la la la la la la la la`", good="`The code is BETA-1409.`"),
    thresholds=(DEGENERATE_LINES, DEGENERATE_LINE_LENGTH, DEGENERATE_UNIT, DEGENERATE_REPEATS, REPEATED_TOKENS),
)
def output_degenerate(view: ReportView) -> Iterator[Finding]:
    """A stream of an arm under test collapsed."""
    texts: dict[str, bool] = {}
    tails: dict[tuple[int, ...], bool] = {}
    for arm in view.under_test:
        for row in without_loops(view, arm).measurements:
            text, tail = row.text or "", (row.token_ids or ())[-DEGENERATE_REPEATS.value * REPEATED_TOKENS.value :]
            if text not in texts:
                texts[text] = is_degenerate(text)
            if tail not in tails:
                tails[tail] = _repeats(tail)
            if texts[text] or tails[tail]:
                field, end = ("text", repr(text[-24:])) if texts[text] else ("token_ids", str(tail[-8:]))
                where = f"{arm.name}, sample {row.sample}, repeat {row.repeat}"
                yield Finding(
                    f"{where}: the {field.split('_')[0]} ends in a runaway repeat ({end})",
                    arm=arm.name,
                    sample=row.sample,
                    field=field,
                    found=end,
                    allowed="no repeat",
                    outcome=foreign_peer(view, arm),
                )


def _repeats(tail: tuple[int, ...]) -> bool:
    """The tokens end in `DEGENERATE_REPEATS` equal units of up to `REPEATED_TOKENS`, whatever the text says."""
    spans = ((unit, unit * DEGENERATE_REPEATS.value) for unit in range(1, REPEATED_TOKENS.value + 1))
    return any(len(tail) >= span and tail[-span:-unit] == tail[unit - span :] for unit, span in spans)
