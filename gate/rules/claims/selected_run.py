"""One run out of several of the same plan, shown alone."""

from gate.rulebook.registry import outside_rule
from gate.rulebook.rule import Example

RUN_SELECTED = outside_rule(
    "RUN_SELECTED",
    title="One run out of several, shown alone",
    catches="A report that was not the first of its plan on its machine: by the run ledger, earlier runs of the same "
    "plan, or of one that differs only in seed, samples, repeats, processes or name, by the same code, ended in "
    "reports that are neither beside this one nor among the judged files, nor named by digest in a retractions file. A "
    "comparison of a drafter's two runtimes that found them equal need not be shown: it hides nothing.",
    why="Whoever runs until the figure is good and keeps that file has measured luck. The run ledger counts the runs.",
    fix="Judge them together: name both folders to `k3 gate check`, or copy the earlier reports into the folder of "
    "this one. `k3 eval` says where this machine wrote them. One that is deleted is named by its digest in "
    "RETRACTIONS.toml beside this report, with the reason.",
    severity="withheld",
    example=Example(bad="the third run of a plan, alone in its folder", good="all three runs in one folder"),
    since=5,
)
