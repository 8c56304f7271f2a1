"""What came out otherwise, told by the replay and held against the report that it is of."""

from __future__ import annotations

from collections.abc import Iterator

from gate.figures.replay.confirmed import disagreements
from gate.rulebook.registry import evidence_rule, outside_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import REPLAY, Example, Finding
from gate.rulebook.thresholds import (
    NEAR_TIE_GAP,
    NEAR_TIE_GAP_BFLOAT16,
    NEAR_TIE_GAP_FLOAT16,
    REPLAY_FLOOR,
    REPLAY_TOLERANCE,
    REPLAY_TOLERANCE_ELSEWHERE,
)


@evidence_rule(
    "REPLAY_DISAGREES",
    title="Rows that came out otherwise when they were run again",
    catches="A drawn row of which a token, text, count, byte or error is not what the report has, or a setting that is "
    "not what preset, seed, models and code make of it. On another machine a stream may part at a numerical tie, and "
    "errors may be 2 % apart. On the other of MLX and PyTorch they may, too, and bytes of caches, names of loops and "
    "drafters may be others.",
    why="What the same code makes of the same models and prompts is the same; if not, the report was not made so.",
    fix="Find out which of the two is right: measure again on a third machine. Retract the report if it is wrong. Rows "
    "that came out otherwise on the other of MLX and PyTorch say that the two are not at par, nothing against the "
    "report.",
    severity="withheld",
    blocks=REPLAY,
    example=Example(bad="9 of 10 rows the same, one stream another", good="10 of 10 rows the same"),
    thresholds=(
        REPLAY_TOLERANCE,
        REPLAY_TOLERANCE_ELSEWHERE,
        REPLAY_FLOOR,
        NEAR_TIE_GAP,
        NEAR_TIE_GAP_FLOAT16,
        NEAR_TIE_GAP_BFLOAT16,
    ),
    since=4,
)
def replay_disagrees(view: ReportView) -> Iterator[Finding]:
    """A row or a fact is not the report's."""
    for one in disagreements(view):
        first = one.found[0]
        more = f" (and {len(one.found) - 1} more)" if len(one.found) > 1 else ""
        field = f": {first.field}" if first.field != one.where else ""
        message = f"{one.where}{field} is {first.original} in the report, {first.replayed} here{more}"
        yield Finding(
            message,
            field=first.field[:200] or "replay.rows",
            found=first.replayed[:100],
            allowed=first.original[:100],
        )


REPLAY_REFUTES = outside_rule(
    "REPLAY_REFUTES",
    title="Somebody ran rows of the report again, and they came out otherwise",
    catches="A claim about an arm of which a replay, beside the report or judged with it, found a row or a setting "
    "that is not what the report has. What is found of the plain model or of the whole run is about every claim.",
    why="A file can be consistent and untrue; a second run is what tells.",
    fix="See the replay (`k3 report show`). If it is right, retract the report and measure again.",
    severity="withheld",
    example=Example(bad="a replay found another stream in one of ten rows", good="no replay found anything else"),
    since=4,
)

REPLAY_OF_ANOTHER = outside_rule(
    "REPLAY_OF_ANOTHER",
    title="A replay of rows that the report does not have",
    catches="A replay whose rows, audits, settings, runtime or numbers of rows are not those of the report that it "
    "names; or whose report lies neither beside it nor among the judged files.",
    why="A replay holds both sides; without the report nobody sees that its side is the report's.",
    fix="Keep the replay in the folder of its report, both as they were written.",
    severity="withheld",
    example=Example(bad="no report of that digest in the folder", good="the report beside its replay"),
    since=4,
)
