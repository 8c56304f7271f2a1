"""`k3 review --plan`: every step, whether it is finished, what is missing for it, and what all of it takes."""

import json
import sys
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from harness.base.remedies import PAGE_REMEDY
from harness.models.to_fetch import fetches_of
from harness.review.folder import ReviewFolder
from harness.review.review import Review
from harness.review.step import BaseStep
from harness.review.suite import Suite
from reports.printing.say import say


@dataclass(frozen=True)
class PlannedStep:
    """A step as it would be run: its state, what is missing, what would be fetched, and about how long it takes."""

    name: str
    state: str
    minutes: float | None
    command: str
    missing: tuple[str, ...]


def missing(suite: Suite) -> list[str]:
    """What is missing for the steps that would run, each once."""
    page = (
        [] if find_spec("jinja2") and find_spec("matplotlib") else [f"pages need jinja2 and matplotlib: {PAGE_REMEDY}"]
    )
    needed = (one.problem for step in suite.steps if not step.skipped() for one in step.needs() if one.blocks)
    return list(dict.fromkeys([*page, *needed]))


def print_plan(suite: Suite, place: Path, json_output: bool) -> int:
    """Print the plan of a review in `place`.

    Returns: 0 when everything is there, 3 when something is missing.
    """
    steps = [_planned(suite, step, place) for step in suite.steps]
    lacks = missing(suite)
    minutes = sum(step.minutes or 0 for step in steps if step.state == "to run")
    takes = {"memory_gb": suite.memory_gb, "disk_gb": suite.disk_gb, "minutes": minutes}
    models = fetches_of(model for step in suite.steps for model in step.models())
    fetch = [model.command for model in models if model.by_hand]
    fetched = {need.fetched: need.line for step in suite.steps for need in step.needs() if need.fetched}
    if json_output:
        told = {
            "suite": suite.name,
            "title": suite.title,
            "folder": str(place),
            **takes,
            "fetch": fetch,
            "missing": lacks,
        }
        print(json.dumps(told | {"steps": [asdict(step) for step in steps]}, indent=1))
        return 3 if lacks else 0
    from gate.render.tables.drawing import write_table

    say(f"suite {suite.name}: {suite.title}")
    say(f"folder {place}")
    unknown = [step.name for step in steps if step.state == "to run" and step.minutes is None]
    beside = f"; how long is not known of {', '.join(unknown)}" if unknown else ""
    say(f"memory {suite.memory_gb:g} GB, disk {suite.disk_gb:g} GB, about {minutes:.0f} minutes{beside}")
    rows = [(step.name, step.state, f"{step.minutes:g}" if step.minutes else "", step.command) for step in steps]
    write_table(("step", "state", "minutes", "command"), rows, sys.stdout, words=4)
    for command in fetch:
        say(f"fetch: {command}")
    for line in fetched.values():
        say(line)
    for problem in dict.fromkeys([*lacks, *(problem for step in steps for problem in step.missing)]):
        wanting = ", ".join(step.name for step in steps if problem in step.missing) or "pages"
        say(f"MISSING for {wanting}: {problem}")
    return 3 if lacks else 0


def _planned(suite: Suite, step: BaseStep, place: Path) -> PlannedStep:
    command = " ".join(("k3", *step.arguments(f"{step.name}.json")))
    if (reason := step.skipped()) is not None:
        return PlannedStep(step.name, f"skipped: {reason}", step.about_minutes(), command, ())
    lacks = tuple(dict.fromkeys(one.problem for one in step.needs() if one.problem))
    there = place.is_dir() and Review(suite, ReviewFolder(place), print).finished(step)
    return PlannedStep(step.name, "finished" if there else "to run", step.about_minutes(), command, lacks)
