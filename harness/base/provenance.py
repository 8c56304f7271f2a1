"""Reads the machine and the code that runs: enough to repeat the run, nothing that names a person."""

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from reports.records.provenance import Host, ModelInfo, Package, Provenance, Source

PACKAGES = ("k3", "mlx", "mlx-lm", "numpy", "transformers", "tokenizers", "torch", "cmeel-openblas")
OWN_PROMPTS = "workload.prompts"
"""The setting that names a file of the user's."""
FOLDERS = ("harness", "gate", "workloads", "reports", "presets")


def read_provenance(models: Sequence[ModelInfo], device: str, blas: str, blas_threads: int | None) -> Provenance:
    """Provenance of a run that is about to start in this process."""
    return Provenance(
        source=read_source(),
        argv=anonymous_argv(sys.argv),
        host=read_host(),
        packages=read_packages(),
        models=tuple(models),
        device=device,
        blas=blas,
        blas_threads=blas_threads,
    )


def read_source() -> Source:
    """The commit of a clean checkout; beside that of a dirty one, and for installed files, the digest of what runs."""
    root = Path(__file__).resolve().parents[2]
    version = version_of("k3")
    if (root / ".git").exists():
        commit = _git(root, "rev-parse", "HEAD")
        status = _git(root, "status", "--porcelain", "--", *FOLDERS)
        if commit is not None and status is not None:
            files = installed_digest(root) if status else None
            return Source(git_commit=commit, dirty=bool(status), version=version, files=files)
    return Source(version=version, files=installed_digest(root))


def installed_digest(root: Path) -> str:
    """sha256 over path and content of every source file of ours under `root`, in sorted order."""
    total = hashlib.sha256()
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".py", ".toml", ".json") and file.is_file():
                total.update(f"{file.relative_to(root).as_posix()}\0".encode())
                total.update(hashlib.sha256(file.read_bytes()).digest())
    return "sha256:" + total.hexdigest()


def read_packages() -> tuple[Package, ...]:
    """The installed distributions that decide what is computed."""
    return tuple(Package(name=name, version=found) for name in PACKAGES if (found := version_of(name)))


def read_host() -> Host:
    """OS, machine, chip, cores, memory and Python; no user or host name."""
    return Host(
        os=f"{platform.system()} {platform.release()}",
        machine=platform.machine() or "unknown",
        chip=_chip(),
        cores=os.cpu_count(),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        python=platform.python_version(),
    )


def anonymous_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Arguments without home folders; the program and the report by their names alone, since folders decide nothing."""
    told = [without_home(part) for part in argv[1:]]
    for place, part in enumerate(told):
        if part.startswith("--out="):
            told[place] = f"--out={Path(part.removeprefix('--out=')).name}"
        elif place and told[place - 1] == "--out":
            told[place] = Path(part).name
        elif "=" in part:
            flag, equals, setting = part.rpartition("--set=")
            told[place] = f"{flag}{equals}{anonymous_setting(setting)}"
    return (Path(argv[0]).name, *told)


def anonymous_setting(setting: str) -> str:
    """`key=value` without home folder; a file of prompts by its name alone, since its digest tells which it is."""
    key, separator, value = without_home(setting).partition("=")
    if key.strip() == OWN_PROMPTS:
        value = Path(value.strip().strip("'\"")).name
    return f"{key}{separator}{value}"


def without_home(text: str) -> str:
    """`text` with the user's home folder replaced by ~."""
    home = str(Path.home())
    return text if home == "/" else text.replace(home, "~")


def version_of(package: str) -> str | None:
    """The installed version of a distribution, if there is one."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _chip() -> str | None:
    """The processor's name as the system gives it."""
    if sys.platform == "darwin":
        try:
            done = subprocess.run(
                ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, timeout=5, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip() or None
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)
