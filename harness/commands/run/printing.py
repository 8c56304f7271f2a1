"""What `k3 eval` prints: what may be said and what may not on stdout, a table of what was measured on stderr."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from gate.judging.judged_file import JudgedFile
from gate.render.headline import headline_line
from gate.render.outcome import verdict_words
from gate.render.tables.look_lines import look_lines
from gate.render.tables.show import write_measured, write_outcome
from reports.printing.say import say
from reports.report import Report, load_report


def print_outcomes(
    files: Sequence[JudgedFile], *, json_output: bool, verbose: bool, judged_with: Sequence[Path] = ()
) -> None:
    """Print the outcome of a run, the last of `files`, after those of the runs beside it.

    With `json_output` one document on stdout and nothing else; with `verbose` the codes behind every sentence.
    `judged_with` are reports elsewhere that count, too.
    """
    if json_output:
        *beside, own = map(_document, files)
        print(json.dumps(own | {"beside": beside, "judged_with": list(map(str, judged_with))}, indent=1))
        return
    for number, judged in enumerate(files):
        report = load_report(Path(judged.path))
        if len(files) > 1 and report.preset is not None:
            if number:
                say("")
            say(f"== {report.preset.name} ==")
        _print_outcome(report, judged, verbose)


def _print_outcome(report: Report, judged: JudgedFile, verbose: bool) -> None:
    """That the machine was busy, the sentences, what is withheld, the table, and last machine, verdict and file."""
    if judged.busy is not None:
        say(judged.busy)
    write_outcome(judged, sys.stdout, verbose=verbose)
    sys.stdout.flush()  # the table goes to another stream, and a terminal shows both
    say("", sys.stderr)
    write_measured(report, judged, sys.stderr)
    sys.stderr.flush()
    for line in look_lines(report):
        say(line)
    if judged.machine is not None:
        say(judged.machine)
    say(f"verdict: {verdict_words(judged)}")
    say(f"report: {judged.path}")


def _document(judged: JudgedFile) -> dict[str, object]:
    return {
        "report": judged.path,
        "verdict": judged.verdict,
        "violations": [violation.model_dump(exclude_none=True) for violation in judged.violations],
        "claims": [claim.model_dump() for claim in judged.claims],
        "reasons": [reason.model_dump() for reason in judged.reasons],
        "headlines": [headline_line(headline) for headline in judged.headlines],
    }
