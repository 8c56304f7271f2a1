"""Plug-ins are found by name and imported when asked for; none takes a shipped name's place or breaks anything else."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.drafters import DRAFTERS, DrafterKind, drafter_named
from reports.engines import ENGINES, ORACLE, EngineKind, built_by
from reports.plugins import entry_points
from reports.plugins.entry_points import PluginError, find, of_group, plugins
from tests.plugged_in import plugged_in, write_package

CODE = """
from reports.drafters import DrafterEntry, DrafterKind
from reports.engines import EngineEntry, EngineKind

ENGINE = EngineEntry(EngineKind("lookahead", "lookahead_step"), "their_plugins:Lookahead")
OWN_ORACLE = EngineEntry(EngineKind("ar", "our_step"), "their_plugins:Lookahead")
SAME_LOOP = EngineEntry(EngineKind("same-loop", "generate_step"), "their_plugins:Lookahead")
DRAFTER = DrafterEntry(DrafterKind("eagle", "eagle"), "their_plugins:load")
AS_MODEL = DrafterEntry(DrafterKind("as-model", "model", port=False, rounds=True), "their_plugins:load")
"""
UNSPEAKABLE = """
class Unspeakable(Exception):
    def __str__(self):
        raise self
raise Unspeakable
"""
UNTIL_TOLD = """
import threading
for thread in threading.enumerate():
    if isinstance(thread, threading.Timer):
        thread.join()
"""
POINTS = {
    "engines": {
        "lookahead": "ENGINE",
        "ar": "OWN_ORACLE",
        "same-loop": "SAME_LOOP",
        "gone": "NOWHERE",
        "odd": "DRAFTER",
    },
    "drafters": {"eagle": "DRAFTER", "as-model": "AS_MODEL"},
}


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Path]:
    write_package(tmp_path, "their-plugins", CODE, POINTS)
    with plugged_in(tmp_path):
        yield tmp_path
    sys.modules.pop("their_plugins", None)


def test_none_is_imported_before_its_name_is_asked_for(installed: Path) -> None:
    assert {plugin.id for plugin in of_group("drafters")} == {"their-plugins:eagle", "their-plugins:as-model"}
    assert (find("engines", "lookahead") or plugins()[0]).version == "1.2"
    assert list(ENGINES) == [name for name in ENGINES if built_by(name) is None]
    assert "their_plugins" not in sys.modules
    assert ENGINES["lookahead"] == EngineKind("lookahead", "lookahead_step")
    assert built_by("lookahead") == "their_plugins:Lookahead"
    assert "lookahead" in list(ENGINES)


def test_a_shipped_name_is_not_taken(installed: Path) -> None:
    assert ENGINES["ar"] == ORACLE
    assert built_by("ar") is None
    assert "their_plugins" not in sys.modules


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("same-loop", r"ar \(generate_step\) is there"),
        ("gone", "cannot be loaded: AttributeError"),
        ("odd", "is of type DrafterEntry, not EngineEntry"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line_and_the_rest_stands(installed: Path, name: str, said: str) -> None:
    assert name not in ENGINES
    problem = ENGINES.problem(name)
    assert problem is not None
    assert problem.startswith(f"plug-in k3.engines their-plugins:{name} 1.2: ")
    assert "\n" not in problem
    with pytest.raises(PluginError, match=said):
        raise PluginError(problem)
    assert "lookahead" in ENGINES


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ('raise RuntimeError("no\\nway")', "cannot be loaded: RuntimeError: no way"),
        ("import sys; sys.exit(7)", "cannot be loaded: SystemExit: 7"),
        ("def broken(:", "cannot be loaded: SyntaxError"),
        ("import no_such_library", "cannot be loaded: ModuleNotFoundError"),
        ("ENGINE = object()", "is of type object, not EngineEntry"),
        ("print('noise'); ENGINE = 3", "is of type int, not EngineEntry"),
        ("raise BaseException('out')", "cannot be loaded: BaseException: out"),
        (UNSPEAKABLE, "cannot be loaded: Unspeakable: its message cannot be shown"),
        ("raise ValueError('\\x1b[2J')", r"cannot be loaded: ValueError: \x1b[2J"),
    ],
)
def test_code_of_others_that_misbehaves_is_told_in_a_line_and_stays_off_stdout(
    code: str, said: str, installed: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path_factory.mktemp("bad")
    write_package(other, "bad-one", code, {"engines": {"bad": "ENGINE"}})
    with plugged_in(installed, other):
        assert "bad" not in ENGINES
        assert said in (ENGINES.problem("bad") or "")
        assert "\n" not in (ENGINES.problem("bad") or "")
        assert "lookahead" in ENGINES
    sys.modules.pop("bad_one", None)
    assert not capsys.readouterr().out


def test_an_import_that_takes_long_is_told_with_the_package_and_one_that_does_not_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(entry_points, "SLOW_S", 0.01)
    write_package(tmp_path, "slow-one", UNTIL_TOLD, {"engines": {"slow": "ENGINE"}})
    with plugged_in(tmp_path):
        assert "slow" not in ENGINES
    sys.modules.pop("slow_one", None)
    assert capsys.readouterr().err == "k3: importing slow_one:ENGINE, plug-in k3.engines slow-one:slow 1.2\n"
    monkeypatch.undo()
    write_package(tmp_path, "quick-one", "", {"engines": {"quick": "ENGINE"}})
    with plugged_in(tmp_path):
        assert "quick" not in ENGINES
    assert capsys.readouterr().err == ""


def test_another_drafter_under_the_name_of_one_that_ships_is_refused(installed: Path) -> None:
    assert "as-model" not in DRAFTERS
    assert "goes by the name model" in (DRAFTERS.problem("as-model") or "")
    assert drafter_named("eagle") == DrafterKind("eagle", "eagle")


def test_two_packages_with_one_name_are_used_neither(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    write_package(other, "twin", "", {"engines": {"lookahead": "ENGINE"}})
    with plugged_in(installed, other):
        assert "lookahead" not in ENGINES
        assert "brings one of that name, too" in (ENGINES.problem("lookahead") or "")


def test_the_digest_is_of_the_code(installed: Path) -> None:
    plugin = find("drafters", "eagle")
    assert plugin is not None
    before = plugin.code()
    assert before is not None
    assert before == plugin.code()
    (installed / "their_plugins.py").write_text(CODE + "\n")
    assert plugin.code() != before
    (installed / "their_plugins.py").unlink()
    assert plugin.code() is None
