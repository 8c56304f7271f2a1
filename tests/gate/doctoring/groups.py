"""Groups of prompts: what an interval is over, and what tells whether weights saw such text."""

import random
from collections.abc import Callable
from typing import Any

from reports.records.plan import PromptRecord, Texts
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.reshape import with_prompts
from tests.gate.edits import knowing_text
from tests.gate.honest.setup import digest

DOCUMENTS = ("stdlib/ast", "stdlib/csv", "stdlib/shelve")
TEXTS = Texts(name="standard library of CPython 3.11.9", documents=len(DOCUMENTS), digest=digest("library"))


def of_three_documents(report: Report) -> Report | None:
    """The truth: all prompts are cut from three documents."""
    made = knowing_text(report, DOCUMENTS, {}) if report.kind == "code" else None
    return _with_workload(made, texts=TEXTS)


def _with_workload(report: Report | None, **changes: Any) -> Report | None:
    """`report` with fields of its workload set."""
    if report is None or report.workload is None:
        return None
    return report.replace(workload=report.workload.replace(**changes))


def _named(report: Report, name: Callable[[PromptRecord], str | None]) -> Report | None:
    """`report` with another group of every prompt, and the digest to match."""
    if report.workload is None or report.workload.form is None:
        return None
    return with_prompts(report, [one.replace(group=name(one)) for one in report.workload.prompts])


@doctoring(truth=of_three_documents)
def forget_some_groups(report: Report, rng: random.Random) -> Report | None:
    """Half of the prompts know no group any more, so that each is one of its own."""
    return _named(report, lambda one: one.group if one.sample < 3 else None)


@doctoring(truth=of_three_documents)
def forget_the_form(report: Report, rng: random.Random) -> Report | None:
    """Every prompt is of a group of its own, and what they are made of is not recorded."""
    return _with_workload(_named(report, lambda one: f"{one.group}_{one.sample}"), form=None)


@doctoring(truth=of_three_documents)
def respell_groups(report: Report, rng: random.Random) -> Report | None:
    """Groups get a letter that looks like another, a blank or a mark that is not seen, so that one is several."""
    marks = ("", "\u200b", " ", "\u0430", "-", "\u00e9", "!")
    return _named(report, lambda one: f"{one.group}{marks[one.sample % len(marks)]}")


@doctoring(truth=of_three_documents)
def regroup_as_another_kind(report: Report, rng: random.Random) -> Report | None:
    """Prompts of documents are said to be of a user's own, one each, which no weights saw."""
    return _named(report, lambda one: f"own/file{one.sample}")


@doctoring(truth=of_three_documents)
def invent_documents(report: Report, rng: random.Random) -> Report | None:
    """Every prompt is said to be of a document of its own, spelt as documents are, of which there are as many."""
    made = _named(report, lambda one: f"{one.group}_{one.sample}")
    return _with_workload(made, texts=TEXTS.replace(documents=50))


@doctoring(truth=of_three_documents)
def split_documents(report: Report, rng: random.Random) -> Report | None:
    """The same, of as many documents as there were."""
    return _named(report, lambda one: f"{one.group}_{one.sample}")


@doctoring(truth=of_three_documents)
def call_documents_templates(report: Report, rng: random.Random) -> Report | None:
    """Every prompt is said to be of a template of its own, which K3 has not."""
    made = _named(report, lambda one: f"synthetic/template{one.sample}")
    return _with_workload(made, form="synthetic", texts=None)


@doctoring(truth=of_three_documents)
def forget_groups(report: Report, rng: random.Random) -> Report | None:
    """No prompt knows its group, nor the workload its form, as in a report from before there were any."""
    return _with_workload(_named(report, lambda one: None), form=None)
