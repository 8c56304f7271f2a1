"""`k3 doctor`: what this machine has, and what is missing for which command."""

import json
import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Annotated

import typer

from harness.base.provenance import PACKAGES, read_host, version_of
from harness.base.remedies import ATTEST_REMEDY, PAGE_REMEDY, RUN_REMEDY, SERVE_REMEDY, TORCH_REMEDY
from harness.commands.plugin_states import PluginState, installed_plugins
from reports.printing.say import say


@dataclass(frozen=True)
class Need:
    """Something a command needs; `remedy` is empty when it is there."""

    command: str
    needs: str
    remedy: str


@dataclass(frozen=True)
class Health:
    """Everything doctor shows."""

    platform: str
    chip: str
    cores: int
    memory_gib: float
    python: str
    device: str
    torch_devices: tuple[str, ...]
    blas: str
    blas_threads: int | None
    packages: dict[str, str]
    models: dict[str, str]
    plugins: tuple[PluginState, ...]
    run_ledger: str
    needs: tuple[Need, ...]


def command(json_output: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Show what this machine has and lacks for K3.

    Platform, device, BLAS, versions, models and plug-ins, and what is missing for which command.
    """
    health = examine()
    if json_output:
        print(json.dumps(asdict(health), indent=1))
        return
    for label, text in _told(health):
        say(f"{label:<12} {text}", hang=13)


def _told(health: Health) -> Iterator[tuple[str, object]]:
    """Label and text of each line."""
    for label in ("platform", "chip", "cores", "memory_gib", "python", "device", "blas", "blas_threads", "run_ledger"):
        yield label, getattr(health, label)
    yield "torch", ", ".join(health.torch_devices) or "not here"
    for label, shown in (("package", health.packages), ("model", health.models)):
        yield from ((label, f"{name}: {state}") for name, state in shown.items())
    yield from (("plug-in", plugin.line) for plugin in health.plugins)
    for need in health.needs:
        yield "MISSING" if need.remedy else "ok", f"{need.command}: {need.needs}{_hint(need)}"


def examine() -> Health:
    """Look at this machine. Imports mlx, after the BLAS preload, and torch to name their devices."""
    host = read_host()
    device, blas, threads = _accelerator()
    models = _models()
    return Health(
        platform=f"{host.os} {host.machine}",
        chip=host.chip or "unknown",
        cores=host.cores or 0,
        memory_gib=round((host.memory or 0) / 2**30, 1),
        python=platform.python_version(),
        device=device,
        torch_devices=_torch_devices(),
        blas=blas,
        blas_threads=threads,
        packages={name: version_of(name) or "not installed" for name in PACKAGES},
        models=models,
        plugins=installed_plugins(),
        run_ledger=_run_ledger(),
        needs=tuple(_needs(models)),
    )


def _accelerator() -> tuple[str, str, int | None]:
    """Device, BLAS, and the threads it may use where that can be asked."""
    try:
        from harness.engines.mlx.blas import blas_threads
        from harness.engines.mlx.device import blas_name, device_name
    except ImportError as error:
        return f"mlx cannot be imported ({error})", "unknown", None
    return device_name(), blas_name(), blas_threads()


def _torch_devices() -> tuple[str, ...]:
    """What `--set device` may name here with `backend=torch`, the fastest first; none without PyTorch."""
    if find_spec("torch") is None:
        return ()
    from harness.engines.torch.device import open_device, present

    return tuple(open_device(name).describe() for name in present())


def _models() -> dict[str, str]:
    """Every known model: whether it is present, and its size."""
    from harness.models.listing import list_models

    shown = {}
    for model in list_models():
        size = f", {model.size / 1e6:.0f} MB" if model.size is not None else ""
        checked = ", checked against a reference" if model.faithfulness is not None else ""
        shown[model.name] = f"{model.state}{size}{checked}"
    return shown


def _run_ledger() -> str:
    """Where it is, how long, and how whole."""
    from harness.runs.run_ledger.history import mends
    from harness.runs.run_ledger.ledger_file import FILE_NAME, read_ledger, state_folder

    try:
        chain = read_ledger(folder := state_folder())
    except OSError as error:
        return f"{FILE_NAME}: cannot be read ({error.strerror})"
    torn, broken = mends(chain)
    tail = f", {len(chain.tail)} bytes at its end that are no line of it" if chain.tail else ""
    return f"{folder / FILE_NAME}: {len(chain.entries)} entries, {torn} torn, {broken} broken{tail}"


def _needs(models: dict[str, str]) -> list[Need]:
    default = models.get("smollm2-135m", "absent")
    return [
        Need("k3 eval --preset demo", "mlx", _module("mlx", RUN_REMEDY)),
        Need(
            "presets that name smollm2-135m",
            "model smollm2-135m",
            "" if default.startswith("present") else "k3 models fetch smollm2-135m (eval does it by itself)",
        ),
        Need("k3 eval --set backend=torch", "torch", _module("torch", TORCH_REMEDY)),
        Need("k3 parity", "torch", _module("torch", TORCH_REMEDY)),
        Need("k3 models verify, of a model without recorded logits", "torch", _module("torch", TORCH_REMEDY)),
        Need("k3 serve, k3 smoke", "grpc", _module("grpc", SERVE_REMEDY)),
        Need("k3 report html, k3 report plot", "matplotlib", _module("matplotlib", PAGE_REMEDY)),
        Need("k3 attest", "cryptography", _module("cryptography", ATTEST_REMEDY)),
        Need("provenance in a checkout", "git", "" if shutil.which("git") else "install git"),
    ]


def _module(name: str, remedy: str) -> str:
    return "" if find_spec(name) is not None else remedy


def _hint(need: Need) -> str:
    return f" -> {need.remedy}" if need.remedy else ""
