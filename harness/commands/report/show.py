"""`k3 report show`: one report, as the gate judges it."""

import sys

from harness.commands.report.opening import File, open_report


def command(file: File) -> None:
    """Print where a report comes from, its arms, and its claims as the gate judges them."""
    from gate.render.tables.show import show

    report, judged = open_report(file)
    show(report, judged, sys.stdout)
