"""The command line as a whole: the table of commands, help, version, wrong usage."""

import inspect
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from typer.models import OptionInfo

from harness.base.lazy_commands import Command, Group
from harness.cli import COMMANDS, run

ROOT = Path(__file__).resolve().parents[2]


def every_command() -> Iterator[tuple[tuple[str, ...], Command]]:
    """The words of every command, and its entry."""
    for name, entry in COMMANDS.items():
        if isinstance(entry, Command):
            yield (name,), entry
        else:
            for inner, command in entry.commands.items():
                yield (name, inner), command


GROUPS = [name for name, entry in COMMANDS.items() if isinstance(entry, Group)]


def loaded_by(arguments: list[str]) -> set[str]:
    """The modules that are loaded once a command line has run, in a fresh interpreter."""
    program = "import sys; from harness.cli import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [[], *([name] for name in GROUPS)], ids=lambda arguments: " ".join(arguments))
def test_the_help_of_a_group_loads_no_command(arguments: list[str]) -> None:
    loaded = loaded_by([*arguments, "--help"])
    assert not {name for name in loaded if name.startswith("harness.commands")}
    assert not loaded & {"pydantic", "rich", "jsonschema", "numpy"}
    assert not {name.split(".")[0] for name in loaded} & {"gate", "reports", "workloads"}


def test_rules_are_listed_without_a_library_of_records_or_of_numbers() -> None:
    loaded = loaded_by(["gate", "rules"])
    assert not {name.split(".")[0] for name in loaded} & {"pydantic", "pydantic_core", "numpy", "rich"}
    assert {name for name in loaded if name.startswith("reports.records.")} == {"reports.records.constants"}


def test_a_command_loads_no_other() -> None:
    loaded = loaded_by(["gate", "rules"])
    assert {name for name in loaded if name.startswith("harness.commands")} == {
        "harness.commands",
        "harness.commands.gate",
        "harness.commands.gate.printing",
        "harness.commands.gate.rules",
    }
    assert not loaded & {"rich", "jsonschema", "numpy", "gate.explain", "gate.render"}


@pytest.mark.parametrize(("words", "entry"), [pytest.param(*each, id=" ".join(each[0])) for each in every_command()])
def test_every_command_is_listed_with_the_first_sentence_of_its_help(
    words: tuple[str, ...], entry: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"Usage: k3 {' '.join(words)} ")
    assert err == ""
    told = " ".join((inspect.getdoc(import_module(entry.module).command) or "").split())
    assert told == entry.line or told.startswith(entry.line + " ")


@pytest.mark.parametrize("arguments", [[], *([name] for name in GROUPS)])
def test_no_summary_is_cut_at_80_columns(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*arguments, "--help"]) == 0
    _, listed = capsys.readouterr().out.split("Commands:")
    entries = COMMANDS if not arguments else COMMANDS[arguments[0]].commands  # type: ignore[union-attr]
    assert [line.split(maxsplit=1) for line in listed.strip().splitlines()] == [
        [name, entry.line] for name, entry in entries.items()
    ]


@pytest.mark.parametrize("arguments", [[], *([name] for name in GROUPS)])
def test_a_group_alone_prints_its_help_and_is_wrong_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"Usage: {' '.join(['k3', *arguments])} ")
    assert "Commands:" in err


def test_the_version_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("k3 ")
    assert out.count("\n") == 1
    assert err == ""


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["--frobnicate"], "k3"),
        (["gate", "chekc"], "k3 gate"),
        (["gate", "check"], "k3 gate check"),
        (["niah", "--lins", "3"], "k3 niah"),
        (["report", "show"], "k3 report show"),
    ],
)
def test_wrong_usage_names_the_help_of_its_command(
    arguments: list[str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 64
    assert f"(see {command} --help)" in capsys.readouterr().err


def test_a_word_for_a_number_is_told_plainly(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["niah", "--samples", "x"]) == 64
    assert capsys.readouterr().err == ("k3: Invalid value for '--samples': give a whole number (see k3 niah --help)\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["niah", "--window", "0"], "k3: --window 0: must be at least 1"),
        (["niah", "--lines", "1"], "k3: --lines 1: must be at least 5"),
        (["niah", "--samples", "0", "--lines", "1"], "k3: --samples 0: "),
        (["niah", "--max-new-tokens", "1"], "k3: --max-new-tokens 1: "),
        (["code", "--block-size", "0"], "k3: --block-size 0: "),
    ],
)
def test_a_value_out_of_range_names_its_flag(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--plan"]) == 64
    err = capsys.readouterr().err
    assert err.startswith(said)
    assert err.count("\n") == 1
    assert "more" not in err or "--lines" in arguments


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        (["eval", "demo"], "k3 eval --preset demo"),
        (["eval"], "k3 eval --preset NAME"),
        (["eval", "--json"], "k3 eval --json --preset NAME"),
        (["eval", "demo", "--samples", "2"], "k3 eval --samples 2 --preset demo"),
        (["eval", "my preset.toml"], "k3 eval --preset 'my preset.toml'"),
    ],
)
def test_who_leaves_out_an_option_is_told_what_to_type(
    arguments: list[str], typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 64
    assert capsys.readouterr().err == f"k3: Missing option '--preset': type `{typed}` (see k3 eval --help)\n"


def test_the_file_a_command_is_about_is_kept_beside_the_missing_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "plot", "my r.json"]) == 64
    assert "type `k3 report plot 'my r.json' --out FILE` (see" in capsys.readouterr().err


def shown_to_newcomers() -> Iterator[list[str]]:
    """Every command with options that README shows between backticks."""
    for span in re.findall(r"`k3 ([^`]+)`", (ROOT / "README.md").read_text()):
        words = shlex.split(span.replace("\n", " "))
        if any(word.startswith("--") for word in words[1:]):
            yield words


def required(command: Command) -> Iterator[set[str]]:
    """The spellings of every option that the command cannot do without."""
    for name, parameter in inspect.signature(import_module(command.module).command, eval_str=True).parameters.items():
        for told in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(told, OptionInfo) and parameter.default is inspect.Parameter.empty:
                yield set(told.param_decls or ()) or {f"--{name.replace('_', '-')}"}


def test_commands_that_readme_shows_with_options_have_those_they_need() -> None:
    commands = dict(every_command())
    assert list(required(commands["parity",])) == [{"--drafter"}]
    shown = list(shown_to_newcomers())
    assert len(shown) > 5
    for words in shown:
        entry = commands.get((words[0],)) or commands.get(tuple(words[:2]))
        for spellings in required(entry) if entry is not None else ():
            assert spellings & set(words), words


def test_code_that_calls_exit_ends_no_command_with_its_own_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave() -> None:
        sys.exit(0)

    monkeypatch.setattr("harness.cli.parser", leave)
    assert run(["gate", "check", "x"]) == 3
    assert "called exit(0)" in capsys.readouterr().err
