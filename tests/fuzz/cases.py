"""Files that nobody vouches for, and the command that each is given to, by seed and number."""

import json
import os
import random
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import harness.models
from reports.report import report_bytes
from tests.fuzz.bounded import CONVERT, Command
from tests.fuzz.spoiling import STRANGE, bytes_of, damaged, spoiled
from tests.gate.honest import Setup, honest_code, honest_kv_quant, honest_niah, honest_parity
from tests.harness.models.hostile_folders import random_hostile

TINY = Path(harness.models.__file__).parent / "tiny"
PRESETS = Path(__file__).parents[2] / "presets"
FORMATS = ("text", "json", "junit", "sarif", "github")
Make = Callable[[Path, random.Random], Command]


@cache
def reports() -> tuple[Any, ...]:
    """Honest reports of every kind, as their files hold them."""
    setup = Setup(samples=2, repeats=1)
    built = [build(setup) for build in (honest_niah, honest_code, honest_kv_quant)]
    return tuple(json.loads(report_bytes(report)) for report in (*built, honest_parity(Setup(samples=5))))


@cache
def foreign() -> tuple[tuple[str, list[Any]], ...]:
    """Small files of every importer, and whether each is JSON, JSON Lines or a text."""
    found = json.loads(Path(__file__).with_name("foreign_files.json").read_text(encoding="utf-8"))
    return tuple((_suffix(documents), documents) for documents in found.values())


def _suffix(documents: list[Any]) -> str:
    return "txt" if isinstance(documents[0], str) else "jsonl" if len(documents) > 1 else "json"


def report(folder: Path, rng: random.Random) -> Command:
    path = folder / "r.json"
    path.write_bytes(bytes_of(spoiled(rng.choice(reports()), rng), rng))
    return on_report(path, rng)


def on_report(path: Path, rng: random.Random) -> Command:
    """Some command that reads a report."""
    name = str(path)
    (path.parent / "good.json").write_bytes(json.dumps(reports()[0]).encode())
    return rng.choice(
        (
            ["gate", "check", name, "--format", rng.choice(FORMATS)],
            ["gate", "check", str(path.parent), "--strict"],
            ["report", "show", name],
            ["report", "diff", name, "good.json"],
            ["report", "html", name, "--out", "page.html"],
            ["report", "table", name, "good.json", "--format", rng.choice(("markdown", "csv"))],
            ["report", "import", name],
            ["gate", "conclude", name],
        )
    )


def another_tools(folder: Path, rng: random.Random) -> Command:
    suffix, documents = rng.choice(foreign())
    path = folder / f"f.{suffix}"
    for old in folder.glob("f.*"):
        old.unlink()
    if suffix == "txt":
        path.write_bytes(damaged(documents[0].encode(), rng))
    else:
        path.write_bytes(b"\n".join(bytes_of(spoiled(one, rng), rng).replace(b"\n", b" ") for one in documents))
    return ["report", "import", str(path)] if rng.random() < 0.4 else on_report(path, rng)


def preset(folder: Path, rng: random.Random) -> Command:
    shipped = sorted(PRESETS.glob("*.toml"))
    lines = rng.choice(shipped).read_text(encoding="utf-8").splitlines()
    for _ in range(rng.randint(0, 3)):
        at = rng.randrange(len(lines))
        key, _, value = lines[at].partition(" = ")
        edit = rng.choice(("value", "value", "value", "gone", "twice", "key"))
        strange = rng.choice(("-1", "0", "nan", "1e400", '""', "[]", "{}", "true", f'"{"x" * 3000}"', "9" * 30, value))
        lines[at : at + 1] = {
            "value": [f"{key} = {strange}"],
            "gone": [],
            "twice": [lines[at]] * 2,
            "key": [f"{key}_ = {value}"],
        }[edit] or ["# gone"]
    text = "\n".join(["\n".join(lines).replace('name = "', 'name = "my-', 1)]).encode()
    (folder / "p.toml").write_bytes(damaged(text, rng) if rng.random() < 0.2 else text)
    if rng.random() < 0.3:
        return ["presets", "show", "./p.toml"]
    value = rng.choice((*map(str, STRANGE[:14]), "x=y", "../x", "none", "1,2,3")).replace("\0", "")
    key = rng.choice(("samples", "model", "seed", "workload.lines", "arms.fused.drafter", "arms.x.sink", "", "a.b.c"))
    sets = ["--set", f"{key}={value}"] if rng.random() < 0.5 else []
    return ["eval", "--preset", rng.choice(("./p.toml", "demo")), *sets, "--plan"]


def ledger(folder: Path, rng: random.Random) -> Command:
    (folder / "good.json").write_bytes(json.dumps(reports()[0]).encode())
    marks = [
        "1.6x <!-- k3: good.json sha256:0123456789ab /claims/0/value -->",
        "```\n2x <!-- k3: good.json -->\n```",
        "| a | 41 % <!-- k3: ../good.json sha256:00 /arms/0/name --> |",
        "> 3 of 5 <!-- k3: good.json /claims/decode_speedup~1fused/value -->",
        "<!-- k3: \x1b[31m -->",
        "~~~~\n<!-- k3:",
    ]
    text = "\n\n".join(rng.choice(marks) for _ in range(rng.randint(1, 6))).encode()
    (folder / "README.md").write_bytes(damaged(text, rng) if rng.random() < 0.5 else text)
    return ["gate", "ledger", "README.md"]


def retractions(folder: Path, rng: random.Random) -> Command:
    text = b'[[retraction]]\nreport_id = "r"\nreason = "wrong"\ndate = 2026-01-02\nclaims = ["a"]\n' * rng.randint(1, 3)
    (folder / "taken_back.toml").write_bytes(damaged(text, rng) if rng.random() < 0.7 else text)
    (folder / "good.json").write_bytes(json.dumps(reports()[0]).encode())
    return ["gate", "check", "good.json", "--retractions", "taken_back.toml"]


def manifest(folder: Path, rng: random.Random) -> Command:
    name = rng.choice(("drafter", "f_theta"))
    made = _empty(folder / name)
    for path in (TINY / name).iterdir():
        if path.suffix != ".json":
            os.symlink(path, made / path.name) if rng.random() < 0.1 else shutil.copy(path, made)
        else:
            (made / path.name).write_bytes(bytes_of(spoiled(json.loads(path.read_bytes()), rng), rng))
    if name == "drafter":
        return ["code", "--model", "k3-tiny", "--drafter", "dflash", "--drafter-model", str(made), "--plan"]
    return ["niah", "--model", "k3-tiny", "--restoration", "f_theta", "--f-theta", str(made), "--plan"]


def model_folder(folder: Path, rng: random.Random) -> Command:
    made = _empty(folder / "model")
    made.rmdir()
    random_hostile(made, rng)
    return ["niah", "--model", str(made), "--plan"]


@cache
def gguf_bytes(folder: Path) -> bytes:
    """A GGUF file with a llama's metadata and one tensor."""
    import gguf
    import numpy as np

    path = folder / "good.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_embedding_length(8)
    writer.add_head_count(2)
    writer.add_token_list(["a", "b", "c"])
    writer.add_tensor("token_embd.weight", np.zeros((3, 8), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


def gguf_file(folder: Path, rng: random.Random) -> Command:
    (folder / "m.gguf").write_bytes(damaged(gguf_bytes(folder), rng))
    return [CONVERT, str(folder / "m.gguf")]


def _empty(folder: Path) -> Path:
    if folder.is_symlink() or folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    return folder


KINDS: dict[Make, int] = {
    report: 50,
    another_tools: 20,
    preset: 14,
    ledger: 5,
    retractions: 3,
    manifest: 4,
    model_folder: 2,
    gguf_file: 2,
}
"""What is made, and how often in a hundred."""


def command_of(seed: int, number: int, folder: Path) -> Command:
    """Make the files of a case in `folder`, and say with which command they are read."""
    rng = random.Random(f"{seed} {number}")
    (make,) = rng.choices(list(KINDS), list(KINDS.values()))
    return make(folder, rng)
