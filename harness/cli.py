"""The `k3` command: wiring only. Sub-commands live in harness/commands, one file each."""

import sys
import traceback

import typer

import harness.commands.gate
import harness.commands.models
import harness.commands.report
import harness.commands.train
from harness.commands import code, doctor, eval, kvquant, niah, parity, presets
from harness.errors import K3Error

_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The base of all usage errors of the parser, which Typer does not export by itself."""

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
app.add_typer(harness.commands.gate.app, name="gate", help="Judge reports; list and explain the rules.")
app.add_typer(harness.commands.report.app, name="report", help="Show, compare, convert and import reports.")
app.add_typer(harness.commands.models.app, name="models", help="List, fetch and verify models.")
app.add_typer(harness.commands.train.app, name="train", help="Train a drafter for a model.")
app.command("doctor")(doctor.command)


def main() -> None:
    """Run the command line and exit with the code that product.md promises."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line.

    Returns: 0 fine, 2 violation, 3 could not run, 64 wrong usage, 130 interrupted, 1 a bug.
    """
    try:
        code = app(args=arguments, prog_name="k3", standalone_mode=False)
    except K3Error as error:
        return _complain(str(error), error.exit_code)
    except _USAGE_ERROR as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        return _complain(f"{message} (see k3 --help)", 64)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", 130)
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception:
        traceback.print_exc()
        return _complain("this is a bug in K3; please report the lines above", 1)
    return int(code or 0)


def _complain(message: str, code: int) -> int:
    print(f"k3: {' '.join(message.split())}", file=sys.stderr)
    return code
