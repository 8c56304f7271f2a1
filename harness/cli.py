"""The `k3` command: wiring only. Sub-commands live in harness/commands, one file each."""

import sys
import traceback
from typing import Annotated

import typer

import harness.commands.gate.judge
import harness.commands.models
import harness.commands.report.report
import harness.commands.train.drafter
from harness.base.errors import K3Error, ReaderGoneError, StreamError
from harness.base.output import guarded_output
from harness.base.provenance import version_of
from harness.commands import doctor, presets
from harness.commands.run import code, eval, kvquant, niah, parity

_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The base of all usage errors of the parser, which Typer does not export by itself."""

_PLAINLY = {
    "Input should be a valid integer, unable to parse string as an integer": "give a whole number",
    "Input should be a valid number, unable to parse string as a number": "give a number",
}
"""What the parser says of a value, and what people say."""

app = typer.Typer(
    name="k3",
    help="Measure LLM inference engines, and print only the headlines that the measurements carry.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("eval")(eval.command)
app.command("niah")(niah.command)
app.command("code")(code.command)
app.command("parity")(parity.command)
app.command("kvquant")(kvquant.command)
app.add_typer(presets.app, name="presets", help="List and show the presets.")
app.add_typer(harness.commands.gate.judge.app, name="gate", help="Judge reports; list and explain the rules.")
app.add_typer(harness.commands.report.report.app, name="report", help="Show, compare, convert and import reports.")
app.add_typer(harness.commands.models.app, name="models", help="List, fetch and verify models.")
app.add_typer(harness.commands.train.drafter.app, name="train", help="Train a drafter for a model.")
app.command("doctor")(doctor.command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"k3 {version_of('k3') or 'of unknown version (not installed)'}")
        raise typer.Exit(0)


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Measure LLM inference engines, and print only the headlines that the measurements carry."""


def main() -> None:
    """Run the command line and exit with the code that product.md promises."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line.

    Returns: 0 fine, 2 violation, 3 could not run, 64 wrong usage, 130 interrupted, 1 a bug.
    """
    try:
        with guarded_output():
            return _run(arguments)
    except ReaderGoneError as error:
        return error.exit_code
    except StreamError as error:
        return _complain(str(error), error.exit_code)


def _run(arguments: list[str]) -> int:
    try:
        code = app(args=arguments, prog_name="k3", standalone_mode=False)
    except StreamError:
        raise
    except K3Error as error:
        return _complain(str(error), error.exit_code)
    except _USAGE_ERROR as error:
        return _wrong_usage(error)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", 130)
    except Exception:
        traceback.print_exc()
        return _complain("this is a bug in K3; please report the lines above", 1)
    return int(code or 0)


def _wrong_usage(error: Exception) -> int:
    """One line that names the help of the command that was meant; the help itself where only a group was named."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    if context is not None and (message == "Missing command." or type(error).__name__ == "NoArgsIsHelpError"):
        print(context.get_help(), file=sys.stderr)
        return 64
    for said, plain in _PLAINLY.items():
        message = message.replace(said, plain)
    command = context.command_path if context is not None else "k3"
    return _complain(f"{message} (see {command} --help)", 64)


def _complain(message: str, code: int) -> int:
    print(f"k3: {' '.join(message.split())}", file=sys.stderr)
    return code
