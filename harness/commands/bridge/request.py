"""`k3 bridge request`: ask the machine on the other side for the reports of a preset or a suite."""

import json
import sys
from typing import Annotated

import typer

from harness.base.errors import UsageError
from harness.bridge.asking import Asker, Wish, ask
from harness.bridge.manifest import RequestError, overrides_of
from harness.commands.bridge.options import Key, Remote, clone_here, own_version
from harness.commands.run.options import Json, choice
from harness.review.suite import suite_names
from reports.printing.say import say


def command(
    preset: Annotated[str | None, typer.Option("--preset", help="A name of `k3 presets list`.")] = None,
    suite: Annotated[str | None, choice(suite_names(), "Of `k3 review`, in place of a preset.", "--suite")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="samples, repeats, seed, max_new_tokens, block_size or model=${ENV:K3_...}.",
        ),
    ] = None,
    ref: Annotated[str | None, typer.Option("--ref", help="The commit to be run; default: HEAD, unchanged.")] = None,
    remote: Remote = "origin",
    minutes: Annotated[int, typer.Option("--minutes", min=1, max=1440, help="After which the run is killed.")] = 120,
    nonce: Annotated[str | None, typer.Option("--nonce", help="16 hex digits; default: new ones.")] = None,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Ask for the reports of a preset or a suite, by a branch.

    Your own branch and files stay.
    """
    from gate.judging.rule_set import RULE_SET

    try:
        overrides = overrides_of(set_ or [])
    except RequestError as error:
        raise UsageError(str(error)) from error
    if (preset is None) == (suite is None):
        raise typer.BadParameter("give --preset or --suite")
    wish = Wish("preset" if preset is not None else "suite", preset or suite or "", overrides, ref, minutes, nonce)
    asker = Asker(own_version(), RULE_SET, key)
    asked = ask(clone_here(), remote, wish, asker)
    short = asked.name.short
    if json_output:
        told = {"request": short, "branch": asked.name.branch, "commit": asked.commit, "base": asked.base}
        print(json.dumps(told, indent=1))
        return
    print(short)
    say(f"k3: asked; `k3 bridge fetch {short} --wait` brings the answer", sys.stderr)
