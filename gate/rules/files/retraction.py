"""Reports that were taken back."""

from gate.rulebook.registry import outside_rule
from gate.rulebook.rule import Example

RETRACTED = outside_rule(
    "RETRACTED",
    title="The report or a claim of it was retracted",
    catches="A report, by its id or the digest of its file, that is listed in the retractions file.",
    why="A figure that turned out wrong keeps being quoted; the file that says so must outrank its rows.",
    fix="Cite what supersedes it.",
    severity="withheld",
    example=Example(
        bad="the digest of the file stands in RETRACTIONS.toml", good="the report that supersedes it is cited"
    ),
)
