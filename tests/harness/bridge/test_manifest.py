"""A manifest is refused in one line, by its bytes alone: no process starts, no file is read."""

import json
import re
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.bridge.manifest import (
    MANIFEST_LIMIT,
    Overrides,
    Request,
    RequestError,
    overrides_of,
    parse_request,
)
from harness.bridge.results import record_bytes
from harness.plans.preset_file import load_preset

GOOD: dict[str, Any] = {
    "schema_version": 1,
    "preset": "code-tiny",
    "preset_digest": "sha256:" + "0" * 64,
    "overrides": {"samples": 2},
    "nonce": "0123456789abcdef",
    "base": "a" * 40,
    "k3_version": "0.1.0",
    "rule_set": 3,
    "minutes": 5,
}

BAD_FIELDS: list[dict[str, Any]] = [
    {"schema_version": 2},
    {"schema_version": 0},
    {"schema_version": True},
    {"schema_version": "1"},
    {"schema_version": None},
    {"preset": "--upload-pack=touch pwned"},
    {"preset": "-oProxyCommand=touch pwned"},
    {"preset": "../../etc/passwd"},
    {"preset": "/etc/passwd"},
    {"preset": "code-tiny.toml"},
    {"preset": "code-tiny; touch pwned"},
    {"preset": "$(touch pwned)"},
    {"preset": "code tiny"},
    {"preset": "code-tiny\n"},
    {"preset": "code\u0000tiny"},
    {"preset": "code-tiny\u001b[2J"},
    {"preset": "Code-Tiny"},
    {"preset": "a" * 41},
    {"preset": ""},
    {"preset": ["code-tiny"]},
    {"preset_digest": "md5:0"},
    {"preset_digest": "sha256:" + "0" * 63},
    {"preset_digest": "sha256:" + "0" * 64 + "\n"},
    {"nonce": "0123456789abcde"},
    {"nonce": "0123456789ABCDEF"},
    {"nonce": "0123456789abcdef\u0007"},
    {"nonce": "../../../../../x"},
    {"nonce": 123},
    {"base": "HEAD"},
    {"base": "main"},
    {"base": "--output=/tmp/x"},
    {"base": "a" * 40 + "^{tree}"},
    {"k3_version": "0.1.0 && true"},
    {"k3_version": "v" * 65},
    {"rule_set": -1},
    {"rule_set": 3.5},
    {"minutes": 0},
    {"minutes": 1441},
    {"minutes": "5"},
    {"minutes": 1e3},
    {"overrides": {"samples": 51}},
    {"overrides": {"samples": 0}},
    {"overrides": {"samples": "2"}},
    {"overrides": {"max_new_tokens": 2049}},
    {"overrides": {"block_size": 65}},
    {"overrides": {"repeats": 51}},
    {"overrides": {"seed": -1}},
    {"overrides": {"model": "${ENV:PATH}"}},
    {"overrides": {"model": "${ENV:HOME}"}},
    {"overrides": {"model": "${ENV:K3_}"}},
    {"overrides": {"model": "${ENV:K3_MODEL}/../.."}},
    {"overrides": {"model": "/models/mine"}},
    {"overrides": {"model": "some/hub-id"}},
    {"overrides": {"workload.prompts": "/etc/passwd"}},
    {"overrides": {"trust_code": True}},
    {"overrides": ["samples=2"]},
    {"command": "touch pwned"},
    {"argv": ["sh", "-c", "touch pwned"]},
    {"env": {"PYTHONPATH": "/tmp"}},
]

BAD_BYTES: list[bytes] = [
    b"",
    b"null",
    b"[]",
    b"{",
    b"\xff\xfe{}",
    b'{"preset": "a", "preset": "b"}',
    b'{"minutes": NaN}',
    b"[" * 5000,
    b'{"a":1}\n{"a":2}\n',
    json.dumps(GOOD).encode() + b" " * MANIFEST_LIMIT,
    b" " * 100_000_000,
    b'{"minutes": ' + b"9" * 5000 + b"}",
    b"version https://git-lfs.github.com/spec/v1\n",
]


@pytest.fixture(autouse=True)
def _no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*arguments: object, **named: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", started)


def test_a_good_manifest_is_read_and_comes_back() -> None:
    request = parse_request(json.dumps(GOOD).encode())
    assert (request.preset, request.overrides.samples, request.minutes) == ("code-tiny", 2, 5)
    assert parse_request(record_bytes(request)) == request


@pytest.mark.parametrize("bad", BAD_FIELDS, ids=lambda bad: json.dumps(bad)[:60])
def test_a_bad_field_is_refused_in_one_line_that_names_it(bad: dict[str, Any]) -> None:
    with pytest.raises(RequestError) as refused:
        parse_request(json.dumps(GOOD | bad).encode())
    message = str(refused.value)
    assert message.isprintable()
    assert len(message) < 400
    assert next(iter(bad)) in message


@pytest.mark.parametrize("field", [name for name in GOOD if name not in ("schema_version", "overrides")])
def test_a_missing_field_is_refused(field: str) -> None:
    with pytest.raises(RequestError, match=field):
        parse_request(json.dumps({name: value for name, value in GOOD.items() if name != field}).encode())


@pytest.mark.parametrize("data", BAD_BYTES, ids=lambda data: repr(data[:20]))
def test_bytes_that_are_no_manifest_are_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(RequestError) as refused:
        parse_request(data)
    assert str(refused.value).isprintable()


@given(st.dictionaries(st.sampled_from([*GOOD, "more"]), st.one_of(st.text(), st.integers(), st.none()), max_size=3))
def test_nothing_that_is_read_leaves_its_bounds(changed: dict[str, Any]) -> None:
    try:
        told: Request | str = parse_request(json.dumps(GOOD | changed).encode())
    except RequestError as error:
        told = str(error)
    if isinstance(told, Request):
        assert 1 <= told.minutes <= 1440
        assert re.fullmatch("[a-z0-9_-]+", told.preset)
    else:
        assert told.isprintable()


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("samples=51", "samples"),
        ("samples", "key=value"),
        ("samples=-1", "samples"),
        ("arms.fused.engine=ar", "arms"),
        ("workload.prompts=/etc/passwd", "workload"),
        ("model=/models/mine", "model"),
        ("model=${ENV:PATH}", "model"),
        ("platform=any", "platform"),
    ],
)
def test_a_setting_that_a_request_cannot_make_is_refused_where_it_is_asked(setting: str, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        overrides_of([setting])


def test_overrides_become_the_settings_of_the_preset() -> None:
    overrides = Overrides(samples=2, block_size=4, model="${ENV:K3_MODEL}")
    code = load_preset("code-tiny").preset
    assert overrides.settings(code) == ("samples=2", "model=${ENV:K3_MODEL}", "arms.fused.drafter.block_size=4")
    parity = load_preset("parity-tiny-recorded").preset
    assert Overrides(block_size=4).settings(parity) == ("block_size=4",)
    assert load_preset("code-tiny", overrides.settings(code)).preset.samples == 2
