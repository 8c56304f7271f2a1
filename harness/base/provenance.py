"""Reads the machine and the code that runs: enough to repeat the run, nothing that names a person."""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from itertools import pairwise
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.source_code import code_digest, read_built_from, read_checkout
from reports.plugins.entry_points import Plugin
from reports.records.provenance import (
    Host,
    ModelInfo,
    Package,
    PluginInfo,
    Provenance,
    Runtime,
    SourceCode,
)
from reports.untrusted.one_line import one_line

PACKAGES = ("k3", "mlx", "mlx-lm", "numpy", "transformers", "tokenizers", "torch", "cmeel-openblas")
OF_FILES = ("workload.prompts", "remote.token_file", "remote.tls_ca", "remote.tls_key", "remote.tls_certificate")
"""How the keys of settings end that name a file of the user's."""
_HUB_ID = re.compile(r"[\w][\w.-]*/[\w.-]+")
MACHINE = "K3_MACHINE"
"""The variable with what its owner calls a machine."""
LABEL = r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}"
ROOT = Path(__file__).resolve().parents[2]


def read_provenance(
    models: Sequence[ModelInfo],
    device: str,
    blas: str,
    blas_threads: int | None,
    plugins: Sequence[Plugin] = (),
    runtime: Runtime | None = None,
) -> Provenance:
    """Provenance of a run that is about to start in this process; `plugins` are those that it uses."""
    return Provenance(
        source=read_source(),
        argv=anonymous_argv(sys.argv),
        host=read_host(),
        packages=read_packages(plugins),
        models=tuple(models),
        plugins=tuple(map(plugin_info, plugins)) or None,
        device=device,
        blas=blas,
        blas_threads=blas_threads,
        runtime=runtime,
    )


def read_source(root: Path = ROOT) -> SourceCode:
    """Git commit and dirty flag in a checkout, or in a wheel built from one, dirty if changed later.

    Without a commit: version and digest of the installed files. Beside that of a dirty checkout, too, the digest of
    what runs: two edits of one commit are not the same code.
    """
    version, checkout = version_of("k3"), read_checkout(root)
    if checkout is not None:
        files = code_digest(root) if checkout.dirty else None
        return SourceCode(git_commit=checkout.git_commit, dirty=checkout.dirty, version=version, files=files)
    installed, built = code_digest(root), read_built_from(root)
    if built is None:
        return SourceCode(version=version, files=installed)
    dirty = built.dirty or built.files != installed
    return SourceCode(git_commit=built.git_commit, dirty=dirty, version=version, files=installed)


def read_packages(plugins: Sequence[Plugin] = ()) -> tuple[Package, ...]:
    """The installed distributions that decide what is computed, those of `plugins` among them."""
    names = dict.fromkeys((*PACKAGES, *(plugin.distribution for plugin in plugins)))
    return tuple(Package(name=name, version=found) for name in names if (found := version_of(name)))


def plugin_info(plugin: Plugin) -> PluginInfo:
    """What a report says of a plug-in."""
    return PluginInfo(
        group=plugin.group,
        name=one_line(plugin.name, 200),
        distribution=one_line(plugin.distribution, 200),
        version=one_line(plugin.version, 200),
        code=plugin.code(),
    )


def read_host() -> Host:
    """OS, machine, chip, cores, memory and Python; no user or host name, but what K3_MACHINE calls it.

    Raises:
        UsageError: K3_MACHINE is no label.
    """
    return Host(
        label=machine_label(),
        os=f"{platform.system()} {platform.release()}",
        machine=platform.machine() or "unknown",
        chip=_chip(),
        cores=os.cpu_count(),
        memory=memory_bytes(),
        python=platform.python_version(),
    )


def machine_label() -> str | None:
    """What its owner calls this machine, if anything.

    Raises:
        UsageError: K3_MACHINE is no label.
    """
    label = os.environ.get(MACHINE)
    if label is not None and not re.fullmatch(LABEL, label):
        raise UsageError(f"{MACHINE}: {label[:60]!r}: give letters, digits, dots, dashes and underscores, 40 at most")
    return label


def memory_bytes() -> int:
    """Bytes of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def anonymous_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Program and arguments, with every file and folder by its name alone: where it lies decides nothing."""
    return (Path(argv[0]).name, *(_word(part, before) for before, part in pairwise(argv)))


def _word(part: str, before: str) -> str:
    if before == "--set":
        return anonymous_setting(part)
    flag, equals, value = part.partition("=") if part.startswith("--") else ("", "", part)
    return f"{flag}{equals}{anonymous_setting(value) if flag == '--set' else _name(value)}"


def _name(value: str) -> str:
    """The last part of a path; an address and a model's id on a hub are none."""
    hub_id = _HUB_ID.fullmatch(value) is not None and not Path(value).exists()
    return value if "/" not in value or "://" in value or hub_id else Path(value).name


def anonymous_setting(setting: str) -> str:
    """`key=value` without home folder; a file by its name alone: of prompts the digest tells which it is."""
    key, separator, value = without_home(setting).partition("=")
    if key.strip().endswith(OF_FILES):
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
