"""Groups of prompts: what an interval is over, and what tells whether weights saw such text."""

import random
from collections.abc import Callable

from reports.records.plan import PromptRecord
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.reshape import with_prompts
from tests.gate.edits import knowing_text

TEMPLATES = ("synthetic/sql_rows", "synthetic/c_switch", "synthetic/go_getters")


def of_three_templates(report: Report) -> Report | None:
    """The truth: all prompts are of three templates."""
    return knowing_text(report, TEMPLATES, {}) if report.kind == "code" else None


def _named(report: Report, name: Callable[[PromptRecord], str | None]) -> Report | None:
    """`report` with another group of every prompt, and the digest to match."""
    if report.workload is None or report.workload.form is None:
        return None
    return with_prompts(report, [one.replace(group=name(one)) for one in report.workload.prompts])


@doctoring(truth=of_three_templates)
def forget_some_groups(report: Report, rng: random.Random) -> Report | None:
    """Half of the prompts know no group any more, so that each is one of its own."""
    return _named(report, lambda one: one.group if one.sample < 3 else None)


@doctoring(truth=of_three_templates)
def forget_the_form(report: Report, rng: random.Random) -> Report | None:
    """Every prompt is of a group of its own, and what they are made of is not recorded."""
    made = _named(report, lambda one: f"{one.group}_{one.sample}")
    return made.replace(workload=made.workload.replace(form=None)) if made is not None and made.workload else None


@doctoring(truth=of_three_templates)
def respell_groups(report: Report, rng: random.Random) -> Report | None:
    """Groups get a letter that looks like another, a blank or a mark that is not seen, so that one is several."""
    marks = ("", "\u200b", " ", "\u0430", "-", "\u00e9", "!")
    return _named(report, lambda one: f"{one.group}{marks[one.sample % len(marks)]}")


@doctoring(truth=of_three_templates)
def regroup_as_another_kind(report: Report, rng: random.Random) -> Report | None:
    """Prompts of templates are said to be of documents, one each, which no weights saw."""
    return _named(report, lambda one: f"stdlib/module{one.sample}")


@doctoring(truth=of_three_templates)
def invent_templates(report: Report, rng: random.Random) -> Report | None:
    """Every prompt is said to be of a template of its own, spelt as templates are."""
    return _named(report, lambda one: f"{one.group}_{one.sample}")


@doctoring(truth=of_three_templates)
def forget_groups(report: Report, rng: random.Random) -> Report | None:
    """No prompt knows its group, nor the workload its form, as in a report from before there were any."""
    made = _named(report, lambda one: None)
    return made.replace(workload=made.workload.replace(form=None)) if made is not None and made.workload else None
