import json

from hypothesis import given

from gate.judging.judged_file import JudgedFile
from gate.render.json import render
from tests.gate.render import samples

KEYS = ["path", "source", "kind", "schema_version", "verdict", "violations", "claims", "reasons"]


def test_every_file_has_the_promised_keys() -> None:
    for file in json.loads(render(samples.every_state())):
        assert list(file) == KEYS
        for violation in file["violations"]:
            assert list(violation)[:3] == ["code", "message", "claims"]
        for claim in file["claims"]:
            assert list(claim) == ["name", "value", "status", "withheld_by"]


def test_values_are_those_of_the_judgement() -> None:
    (file,) = json.loads(render([samples.withheld()]))
    assert (file["source"], file["schema_version"], file["verdict"]) == ("k3", 2, "withheld")
    assert file["violations"][0]["allowed"] == "5"
    assert file["claims"] == [
        {"name": "decode_speedup/fused", "value": 2.5, "status": "withheld", "withheld_by": ["SPEEDUP_SAMPLES"]}
    ]


def test_no_files_are_an_empty_list() -> None:
    assert json.loads(render([])) == []


@given(samples.files())
def test_any_string_survives_in_ascii(file: JudgedFile) -> None:
    text = render([file, samples.hostile()])
    assert text.isascii()
    first, second = json.loads(text)
    assert first["path"] == file.path
    assert first["violations"][0]["message"] == file.violations[0].message
    assert second["path"] == samples.hostile().path
