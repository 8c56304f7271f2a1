"""`k3 gate`: judge reports, list and explain rules and claims, check the figures in prose."""

import json
import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base.errors import CannotRunError, UsageError
from harness.base.nearest import nearest
from reports.untrusted.one_line import one_line

if TYPE_CHECKING:
    from gate.judging.judged_file import JudgedFile

app = typer.Typer(rich_markup_mode=None)

Retractions = Annotated[
    list[Path] | None,
    typer.Option("--retractions", metavar="FILE", help="A retractions file to obey beside those that are found."),
]


class Format(StrEnum):
    """How judgements are printed."""

    text = "text"
    json = "json"
    junit = "junit"
    sarif = "sarif"
    github = "github"


@app.command("check")
def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Reports, and folders of them.")],
    output: Annotated[Format, typer.Option("--format", help="How to print the outcome.")] = Format.text,
    retractions: Retractions = None,
) -> None:
    """Judge reports. Exit 0: nothing broken; 2: a rule is broken; 3: a file could not be opened, a folder has none."""
    from gate.judging.batch import folders_without_reports, judge_paths
    from gate.judging.judged_file import exit_code
    from reports.retractions import RetractionsError

    try:
        files = judge_paths(paths, retractions or ())
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    print_files(files, output)
    code, empty = exit_code(files), folders_without_reports(paths, files)
    if code == 0 and empty:
        raise CannotRunError(f"{one_line(str(empty[0]), 1000)}: no report in this folder; name the one that holds them")
    raise typer.Exit(code)


def print_files(files: "Sequence[JudgedFile]", output: Format) -> None:
    """Print judged files to stdout in the wanted format, and nothing else."""
    _escape_what_stdout_cannot_encode()
    match output:
        case Format.text:
            from gate.render import text

            text.write(files, sys.stdout)
        case Format.json:
            from gate.render import json as json_format

            sys.stdout.write(json_format.render(files))
        case Format.junit:
            from gate.render import junit

            sys.stdout.write(junit.render(files))
        case Format.sarif:
            from gate.render import sarif

            sys.stdout.write(sarif.render(files, Path.cwd()))
        case Format.github:
            from gate.render import github

            sys.stdout.write(github.annotations(files))
            _append_summary(github.summary(files))


def _append_summary(markdown: str) -> None:
    """Add to the summary of the GitHub step, if there is one."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    try:
        with open(name, "a", encoding="utf-8") as file:
            file.write(markdown)
    except OSError as error:
        print(f"k3: {name}: the step summary cannot be written ({error.strerror})", file=sys.stderr)


def _escape_what_stdout_cannot_encode() -> None:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


@app.command("conclude")
def conclude(
    paths: Annotated[list[Path], typer.Argument(metavar="REPORT...", help="Reports of finished runs.")],
    output: Annotated[Format, typer.Option("--format", help="How to print the outcome.")] = Format.text,
    retractions: Retractions = None,
) -> None:
    """Derive the claims of finished runs anew from their rows and write them into the reports: after `k3 parity` wrote
    its report beside them, say. Exit codes are those of `check`."""
    from gate.judging.batch import Judge
    from gate.judging.judged_file import exit_code
    from harness.commands.gate.conclude import conclude_anew
    from reports.retractions import RetractionsError

    try:
        judge = Judge([Path(os.sep)], retractions or ())  # what is rewritten is looked for up to the root
        files = [conclude_anew(path, judge) for path in paths]
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    print_files(files, output)
    raise typer.Exit(exit_code(files))


@app.command("rules")
def rules(json_output: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """List the rules, a line each."""
    from gate.explain.story import document
    from gate.judging.rule_set import RULE_SET, all_rules

    if json_output:
        print(json.dumps({"rule_set": RULE_SET, "rules": [document(rule) for rule in all_rules()]}, indent=1))
        return
    width = max(len(rule.code) for rule in all_rules())
    for rule in all_rules():
        print(f"{rule.code:<{width}}  {rule.severity:<8}  {rule.title}")


@app.command("claims")
def claims(json_output: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """List the kinds of claims, a line each."""
    from gate.explain.story import claim_document
    from gate.rulebook.claim_kinds import CLAIM_KINDS

    if json_output:
        print(json.dumps([claim_document(kind) for kind in CLAIM_KINDS.values()], indent=1))
        return
    width = max(map(len, CLAIM_KINDS))
    for kind in CLAIM_KINDS.values():
        print(f"{kind.metric:<{width}}  {kind.title}")


@app.command("explain")
def explain(
    code: Annotated[str, typer.Argument(metavar="CODE", help="A code of `k3 gate rules`, or one of `k3 gate claims`.")],
) -> None:
    """Print what a rule catches, why it exists and how to satisfy it; or what a claim asserts and how it is made."""
    from gate.explain.story import claim_facts, facts
    from gate.judging.rule_set import all_rules, find_rule
    from gate.rulebook.claim_kinds import CLAIM_KINDS, kind_of_claim
    from gate.rulebook.retired_codes import RETIRED_CODES

    wanted = code.strip().upper()
    rule, kind = find_rule(wanted), kind_of_claim(code)
    if not wanted:
        raise UsageError("which rule or claim? see `k3 gate rules` and `k3 gate claims`")
    if rule is not None:
        print(f"{rule.code}: {rule.title}\n")
        for label, text in facts(rule):
            print(_wrapped(label, text))
    elif kind is not None:
        print(f"{kind.metric}: {kind.title}\n")
        for label, text in claim_facts(kind):
            print(_wrapped(label, text))
    elif wanted in RETIRED_CODES:
        print(f"{wanted}: retired. {RETIRED_CODES[wanted]}")
    else:
        near = nearest(wanted, [*(each.code for each in all_rules()), *CLAIM_KINDS])
        hint = f"did you mean {near}?" if near else "see `k3 gate rules` and `k3 gate claims`"
        raise UsageError(f"there is no rule or claim {one_line(code, 80)}; {hint}")


def _wrapped(label: str, text: str) -> str:
    import textwrap

    indent = " " * 11
    return textwrap.fill(text, 100, initial_indent=f"{label:<9}  ", subsequent_indent=indent, break_on_hyphens=False)


@app.command("ledger")
def ledger(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Markdown files, and folders of them.")],
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    allow_none: Annotated[bool, typer.Option("--allow-none", help="It is no error if no figure is marked.")] = False,
    retractions: Retractions = None,
) -> None:
    """Check every marked figure in prose against the report it names. Exit 2 if one no longer holds, 3 if there is
    none."""
    from gate.ledger.check import check_ledger, exit_code
    from gate.render.ledger_text import render_json, render_text
    from reports.retractions import RetractionsError

    try:
        entries = list(check_ledger(paths, retractions or ()))
    except RetractionsError as error:
        raise CannotRunError(str(error)) from error
    _escape_what_stdout_cannot_encode()
    sys.stdout.write(render_json(entries) if json_output else render_text(entries))
    if not entries and not allow_none:
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        raise CannotRunError(
            f"{one_line(str(paths[0]), 1000)}{more}: no marked figure; name the prose that has some, or --allow-none"
        )
    raise typer.Exit(exit_code(entries))
