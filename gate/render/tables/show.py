"""A report for people: what may be said of it, what was measured in tables, and where it comes from."""

from collections.abc import Iterator
from typing import TextIO

from gate.judging.judged_file import JudgedFile
from gate.render.headline import hint_line
from gate.render.outcome import outcome_lines, verdict_words
from gate.render.report_header import header_of
from gate.render.tables import codec_cells, conduct, parity_cells, replayed
from gate.render.tables.arm_summary import summarise
from gate.render.tables.cells import COLUMNS, WORDS, cells, round_trip_lines
from gate.render.tables.codec_table import summarise_codecs
from gate.render.tables.drawing import write_table
from gate.render.tables.parity_counts import summarise_parity
from gate.render.text import claim_lines
from reports.printing.say import say, write_statements
from reports.report import Report
from reports.untrusted.one_line import one_line


def show(report: Report, judged: JudgedFile, stream: TextIO, *, verbose: bool = False) -> None:
    """Print the report to `stream`: text from it reaches the terminal without control codes or markup."""
    if judged.busy is not None:
        say(judged.busy, stream)
    write_outcome(judged, stream, verbose=verbose)
    say(f"verdict: {verdict_words(judged)}", stream)
    say("", stream)
    write_measured(report, judged, stream)
    if judged.machine is not None:
        say(judged.machine, stream)
        say("", stream)
    write_table(("", ""), list(header_of(report).items()), stream, words=2)


def write_outcome(judged: JudgedFile, stream: TextIO, *, verbose: bool) -> None:
    """Print what may be said and what may not; with `verbose` the claims by name and the codes, too."""
    write_statements(outcome_lines(judged, listed=verbose), stream)
    if verbose:
        write_statements(claim_lines(judged), stream)
    hint = hint_line(judged.claims) if verbose else None
    if hint is not None:
        write_statements([((hint, "dim"),)], stream)


def write_measured(report: Report, judged: JudgedFile, stream: TextIO) -> None:
    """Print what was measured, in tables."""
    if report.arms:
        arms = summarise(report, judged)
        write_table(COLUMNS, [cells(arm) for arm in arms], stream, words=WORDS)
        for arm in arms:
            for line in round_trip_lines(arm):
                say(line, stream)
    if report.parity is not None:
        row = parity_cells.row(summarise_parity(report.parity))
        write_table(parity_cells.COLUMNS, [row], stream, words=parity_cells.WORDS)
    if report.kv_quant is not None:
        rows = [codec_cells.row(summary) for summary in summarise_codecs(report.kv_quant)]
        write_table(codec_cells.COLUMNS, rows, stream, words=codec_cells.WORDS)
        for refused in report.kv_quant.refused:
            say(f"not run: {one_line(refused.name)}: {one_line(refused.reason)}", stream)
    if report.runtime_smoke is not None:
        steps = conduct.smoke_rows(report.runtime_smoke)
        write_table(conduct.SMOKE_COLUMNS, steps, stream, words=conduct.SMOKE_WORDS)
    if report.replay is not None:
        write_table(replayed.COLUMNS, replayed.rows(report), stream, words=replayed.WORDS)
    if report.platform_tests is not None:
        counts = [conduct.tests_row(report.platform_tests)]
        write_table(conduct.TESTS_COLUMNS, counts, stream, words=conduct.TESTS_WORDS)


def differences(first: dict[str, str], second: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Label and both texts, of every label whose texts differ; a missing one is empty."""
    for label in dict.fromkeys((*first, *second)):
        ours, theirs = first.get(label, ""), second.get(label, "")
        if ours != theirs:
            yield label, ours, theirs


def flat(report: Report, judged: JudgedFile) -> dict[str, str]:
    """Everything `show` prints of a report, a label and a text each, for comparing two of them."""
    lines = header_of(report) | {"verdict": judged.state}
    for arm in summarise(report, judged):
        row = zip(COLUMNS[1:], cells(arm)[1:], strict=True)
        lines |= {f"{one_line(arm.name)}: {column}": cell for column, cell in row if cell}
    if report.parity is not None:
        counts = zip(parity_cells.COLUMNS, parity_cells.row(summarise_parity(report.parity)), strict=True)
        lines |= {f"parity: {column}": cell for column, cell in counts}
    refused = {claim.name for claim in judged.withheld}
    for claim in judged.claims:
        state = f"WITHHELD ({', '.join(claim.withheld_by) or 'not claimed'})" if claim.name in refused else "admitted"
        lines[f"claim {one_line(claim.name)}"] = one_line(state)
    return lines
