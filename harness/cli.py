"""The `k3` command: wiring only. Every command is a module of harness/commands, imported when it is called."""

import shlex
import sys
import traceback
from typing import Annotated, Any

import typer

from harness.base.errors import K3Error, ReaderGoneError, StreamError
from harness.base.lazy_commands import PLAIN, Command, Group, LazyGroup
from harness.base.output import guarded_output

MESSAGE_LIMIT = 4000
"""Characters of an error; what a file or a name holds beyond that says no more."""

COMMANDS: dict[str, Command | Group] = {
    "eval": Command(
        "harness.commands.run.eval",
        "Run a preset, and print what may be quoted of it.",
    ),
    "niah": Command("harness.commands.run.niah", "Needle recall of one restoration mode, beside its control."),
    "code": Command(
        "harness.commands.run.code",
        "Speculative decoding of code, beside the plain model.",
    ),
    "parity": Command(
        "harness.commands.run.parity",
        "Compare a drafter's two runtimes token by token.",
    ),
    "kvquant": Command(
        "harness.commands.run.kvquant",
        "Measure what K/V codecs store, lose and still recall.",
    ),
    "serve": Command(
        "harness.commands.sessions.serve",
        "Put an engine behind the session protocol (gRPC).",
    ),
    "smoke": Command(
        "harness.commands.sessions.smoke",
        "Take a server through the session protocol, step by step.",
    ),
    "replay": Command(
        "harness.commands.replay",
        "Run rows of a report again, drawn at random, and compare.",
    ),
    "tests": Command(
        "harness.commands.sessions.tests",
        "Make a report of test results (JUnit XML).",
    ),
    "doctor": Command(
        "harness.commands.doctor",
        "Show what this machine has and lacks for K3.",
    ),
    "presets": Group(
        "List and show the presets.",
        {
            "list": Command("harness.commands.presets.list", "List the presets, a line each."),
            "show": Command(
                "harness.commands.presets.show",
                "Print a preset's file, by its name or its path.",
            ),
        },
    ),
    "gate": Group(
        "Judge reports; list and explain the rules.",
        {
            "check": Command("harness.commands.gate.check", "Judge reports."),
            "conclude": Command(
                "harness.commands.gate.conclude",
                "Derive the claims of finished runs anew from their rows.",
            ),
            "rules": Command("harness.commands.gate.rules", "List the rules, a line each."),
            "claims": Command("harness.commands.gate.claims", "List the kinds of claims, a line each."),
            "explain": Command(
                "harness.commands.gate.explain",
                "Explain a rule, a claim or a word.",
            ),
            "ledger": Command(
                "harness.commands.gate.ledger", "Check marked figures in prose against the reports they name."
            ),
        },
    ),
    "attest": Group(
        "Sign what the gate says of a report, and see who signed it.",
        {
            "keygen": Command(
                "harness.commands.attest.keygen",
                "Write a new Ed25519 key pair, and print the key's id.",
            ),
            "sign": Command(
                "harness.commands.attest.sign",
                "Judge reports, and sign what the gate says of each.",
            ),
            "verify": Command(
                "harness.commands.attest.verify",
                "Check the envelopes beside reports.",
            ),
        },
    ),
    "report": Group(
        "Show, compare, convert and import reports.",
        {
            "show": Command(
                "harness.commands.report.show",
                "Print what may be said of a report, and what was measured.",
            ),
            "diff": Command(
                "harness.commands.report.diff",
                "Print what differs between two reports.",
            ),
            "html": Command(
                "harness.commands.report.html",
                "Write a report, or a folder of them, as HTML pages.",
            ),
            "plot": Command(
                "harness.commands.report.plot",
                "Write one picture of a report.",
            ),
            "table": Command("harness.commands.report.table", "Print the arms of many reports in one table."),
            "import": Command(
                "harness.commands.report.import_",
                "Turn another tool's file into a report.",
            ),
            "schema": Command("harness.commands.report.schema", "Print the JSON Schema of a report."),
        },
    ),
    "sweep": Command(
        "harness.commands.sweep.sweep",
        "Run a grid of presets on many machines, into one folder.",
    ),
    "models": Group(
        "List, fetch and verify models.",
        {
            "list": Command("harness.commands.models.list", "List the known models and whether they are here."),
            "fetch": Command(
                "harness.commands.models.fetch", "Download, check and convert a model once, and print its folder."
            ),
            "verify": Command(
                "harness.commands.models.verify",
                "Compare a model's logits with those of transformers.",
            ),
        },
    ),
    "bridge": Group(
        "Ask a machine you do not sit at for evidence, by git.",
        {
            "request": Command(
                "harness.commands.bridge.request",
                "Ask for the reports of a preset or a suite, by a branch.",
            ),
            "run": Command(
                "harness.commands.bridge.run",
                "Answer the requests on the remote, the oldest first.",
            ),
            "status": Command(
                "harness.commands.bridge.status",
                "List the requests on the remote, and where each stands.",
            ),
            "fetch": Command(
                "harness.commands.bridge.fetch",
                "Check, judge and keep what came back.",
            ),
            "doctor": Command(
                "harness.commands.bridge.doctor",
                "Show what asking and executing need here, and what mends it.",
            ),
            "setup": Command(
                "harness.commands.bridge.setup",
                "Print what starts `k3 bridge run` by itself.",
            ),
        },
    ),
    "review": Command(
        "harness.commands.review.command",
        "Run every step of a suite, and leave one folder.",
    ),
    "train": Group(
        "Train a drafter or an f_theta for a verifier.",
        {
            "drafter": Command(
                "harness.commands.train.drafter",
                "A DFlash drafter, from the verifier's own continuations.",
            ),
            "ftheta": Command(
                "harness.commands.train.f_theta",
                "An f_theta, by ridge regression and by descent.",
            ),
        },
    ),
}
"""Every command: its name, its module, and the line that `--help` lists it with."""

_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""The base of all usage errors of the parser, which Typer does not export by itself."""

_PLAINLY = {
    "Input should be a valid integer, unable to parse string as an integer": "give a whole number",
    "Input should be a valid number, unable to parse string as a number": "give a number",
}
"""What the parser says of a value, and what people say."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from harness.base.provenance import version_of

        print(f"k3 {version_of('k3') or 'of unknown version (not installed)'}")
        raise typer.Exit(0)


def _leave_out(context: typer.Context, wanted: bool) -> None:
    if wanted:
        from harness.runs.run_ledger.opt_out import leaving_out

        context.with_resource(leaving_out())


def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
    no_ledger: Annotated[
        bool,
        typer.Option(
            "--no-ledger",
            help="Leave this run out of the run ledger (docs/run-ledger.md); the report says so.",
            callback=_leave_out,
        ),
    ] = False,
) -> None:
    """Measure LLM inference engines, and print only the headlines that the measurements carry.

    What a word means (oracle, arm, drafter, K/V ...) says `k3 gate explain WORD`.
    """


def parser() -> Any:
    """The parser of the whole command line."""
    app = typer.Typer(cls=LazyGroup, **PLAIN)
    app.callback()(options)
    root = typer.main.get_command(app)
    assert isinstance(root, LazyGroup)
    root.fill(COMMANDS)
    return root


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
        # Typer's own `main` ends an interruption silently.
        with parser().make_context("k3", list(arguments)) as context:
            return int(context.command.invoke(context) or 0)
    except typer.Exit as end:
        return end.exit_code
    except StreamError:
        raise
    except K3Error as error:
        return _complain(str(error), error.exit_code)
    except _USAGE_ERROR as error:
        return _wrong_usage(error, arguments)
    except ModuleNotFoundError as error:
        return _missing_module(error)
    except KeyboardInterrupt as stop:
        return _complain(f"interrupted; {stop}" if str(stop) else "interrupted", 130)
    except SystemExit as end:  # none of ours: an exit code of 0 would read as a verdict
        return _complain(f"code of another package called exit({end.code!r}); `k3 doctor` lists the plug-ins", 3)
    except Exception:
        return _bug()


def _missing_module(error: ModuleNotFoundError) -> int:
    """The gate installs without engines: whoever asks for one is told which extra brings what is missing."""
    from harness.base.remedies import remedy_of

    remedy = remedy_of(error.name)
    return _bug() if remedy is None else _complain(f"{error.name} is not installed: {remedy}", 3)


def _bug() -> int:
    traceback.print_exc()
    return _complain("this is a bug in K3; please report the lines above", 1)


def _wrong_usage(error: Exception, arguments: list[str]) -> int:
    """One line that names the help of the command that was meant, or what to type where an option is missing; the help
    itself where only a group was named."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    if context is not None and message == "Missing command.":
        print(context.get_help(), file=sys.stderr)
        return 64
    for said, plain in _PLAINLY.items():
        message = message.replace(said, plain)
    command = context.command_path if context is not None else "k3"
    missing = getattr(error, "param", None) if message.startswith("Missing option") else None
    if missing is not None:
        message = f"{message.rstrip('.')}: type `{command} {_completed(arguments, context, missing)}`"
    return _complain(f"{message} (see {command} --help)", 64)


def _completed(arguments: list[str], context: Any, missing: Any) -> str:
    """What was typed after the command's name, with the option that is missing. A first word that the command does not
    take is most likely its value."""
    words = arguments[arguments.index(context.info_name) + 1 :] if context.info_name in arguments else []
    takes_words = any(one.param_type_name == "argument" for one in context.command.params)
    is_value = bool(words) and not takes_words and not words[0].startswith("-")
    value = shlex.quote(words.pop(0)) if is_value else missing.metavar or "VALUE"
    return " ".join((*map(shlex.quote, words), missing.opts[0], value))


def _complain(message: str, code: int) -> int:
    from reports.printing.say import say
    from reports.untrusted.one_line import one_line

    say(f"k3: {one_line(' '.join(message.split()), MESSAGE_LIMIT)}", sys.stderr)
    return code


if __name__ == "__main__":
    main()
