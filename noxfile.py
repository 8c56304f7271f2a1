"""The project's checks: `nox -s tests lint types`, and more by `nox -l`. Each session installs what it needs, pinned by
constraints.txt; `tests` and `torch` say at their start how long they take and how much disk."""

import re
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.options.sessions = ["tests", "lint", "types"]
nox.options.reuse_existing_virtualenvs = True
CONSTRAINTS = ("-c", "constraints.txt")
PYPROJECT = nox.project.load_toml("pyproject.toml")
SMALL, OTHERS = "not torch and not gemma", "torch or gemma"
"""Tests of the session `tests`; the session `torch` has the others, which take PyTorch or another 1.1 GB."""
SPREAD = ("-n", "logical", "--dist", "worksteal")
"""A process a core, each with tests that stand together, so that what they share is made once."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""A process a core, and a thread of linear algebra each: two that have all of them slow each other down."""
UNRECORDED = {"K3_NO_LEDGER": "1"}
"""Runs that are no measurements stay out of the run ledger of whoever works on K3."""
LIGHT_MB = 100
UNTYPED = re.compile(r"k3|mlx-lm|cmeel|gguf|transformers|dask|distributed|nvidia")
"""Packages without types, which mypy reads nothing of; pyproject.toml has it skip those that are imported."""


def install(session: nox.Session, *groups: str, extra: str = "run") -> None:
    """Install K3 with an extra, and the named dependency groups."""
    session.install(*CONSTRAINTS, f".[{extra}]", *nox.project.dependency_groups(PYPROJECT, *groups))


@nox.session
def tests(session: nox.Session) -> None:
    """The tests, on real models; then the gate over the committed evidence. Needs neither PyTorch nor a GPU."""
    session.log("some 15 minutes on 2 cores; about 1.4 GB of disk: 0.9 of packages, 0.5 of a model in K3's cache")
    install(session, "test", extra="serve,http,page,sweep,attest,gpu")
    session.run("k3", "models", "fetch", "smollm2-135m")
    session.run("pytest", *SPREAD, "-m", SMALL, *session.posargs, env=ONE_THREAD)
    session.run("k3", "gate", "check", "reports/evidence/")


@nox.session
def torch(session: nox.Session) -> None:
    """The other tests: engines on PyTorch, parity with MLX (`k3 replay REPORT --backend torch`), training, whether
    what was recorded of PyTorch still holds, and Gemma 3."""
    session.log("tens of minutes on 2 cores; 3 GB of disk, or 7 where pip takes PyTorch with CUDA")
    install(session, "test", extra="torch,serve,http,page,sweep,attest,gpu")
    for model in ("smollm2-135m", "gemma3-270m"):
        session.run("k3", "models", "fetch", model)
    session.run("pytest", *SPREAD, "-m", OTHERS, *session.posargs, env=ONE_THREAD)


@nox.session
def browser(session: nox.Session) -> None:
    """The reviewer's pages in a real Chromium, at three widths, light and dark and printed; and what axe finds."""
    install(session, "test", "browser", extra="run,page")
    session.run("playwright", "install", "chromium", success_codes=range(256))  # where it fails, the system's is taken
    session.run("pytest", "-n", "auto", "-rs", "tests/gate/render/page/browser_pages.py", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and format, who imports whom, what is imported against what is declared, and the workflow files."""
    session.install(*CONSTRAINTS, "--no-compile", *nox.project.dependency_groups(PYPROJECT, "lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")
    session.run("deptry", ".")
    session.run("actionlint")


@nox.session
def types(session: nox.Session) -> None:
    """Strict typing of the four packages, beside whatever they import that has types."""
    groups = (PYPROJECT["project"]["dependencies"], *PYPROJECT["project"]["optional-dependencies"].values())
    typed = {package for group in groups for package in group if not UNTYPED.match(package)}
    types = nox.project.dependency_groups(PYPROJECT, "types")
    session.install(*CONSTRAINTS, "--no-compile", *sorted(typed), *types)
    session.run("mypy")


@nox.session
def lowest(session: nox.Session) -> None:
    """The lowest versions that pyproject.toml names: the demo runs, and the gate's tests pass."""
    groups = nox.project.dependency_groups(PYPROJECT, "test")
    session.install("uv")
    command = ("uv", "pip", "install", "--system-certs", "--python", session.virtualenv.location)
    session.run(*command, "--resolution", "lowest-direct", ".[run,page]", *groups)
    with session.chdir(session.create_tmp()):
        session.run("k3", "eval", "--preset", "demo", "--out", "demo.json", env=UNRECORDED, success_codes=[0])
        session.run("k3", "gate", "check", "demo.json", success_codes=[0, 2])
    outside = {"TMPDIR": None}  # nox's own folder lies in this repository, and tests need one that does not
    session.run("pytest", "-n", "auto", "tests/gate", "tests/reports", *session.posargs, env=outside)


@nox.session
def light(session: nox.Session) -> None:
    """The gate alone, as the pre-commit hook and the action install it: it judges, and weighs little."""
    session.install(*CONSTRAINTS, ".")
    session.run("k3", "gate", "check", "reports/evidence/")
    files = (path for path in Path(session.virtualenv.location).rglob("*") if path.is_file() and not path.is_symlink())
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    session.log(f"the environment takes {megabytes:.0f} MB; {LIGHT_MB} are allowed")
    if megabytes > LIGHT_MB:
        session.error("too heavy for a hook: move what engines need to the extra `run`")


@nox.session
def bench(session: nox.Session) -> None:
    """Speed and memory, as ratios measured in one run; fails on one that is out of bounds."""
    install(session, extra="run,torch")
    session.run("k3", "models", "fetch", "smollm2-135m")
    failed = []
    for script in sorted(Path("scripts/bench").glob("bench_*.py")):
        session.log(str(script))
        try:
            session.run("python", str(script), env=UNRECORDED)
        except CommandFailed:
            failed.append(script.name)
    if failed:
        session.error(f"crashed or out of bounds: {', '.join(failed)}")


@nox.session
def doctoring(session: nox.Session) -> None:
    """10,000 doctored reports, none of which may say more than its run without being a known survivor."""
    install(session)
    session.run("python", "scripts/doctoring.py", "--cases", "10000", *session.posargs)


@nox.session
def method(session: nox.Session) -> None:
    """How often the gate's figures are wrong, by simulation: 10,000 reports a cell."""
    install(session)
    session.run("python", "scripts/method.py", *(session.posargs or ("--write",)))


@nox.session
def fuzz(session: nox.Session) -> None:
    """100,000 commands over spoiled files: no traceback, no hang, no memory over 1 GB."""
    install(session, "test")
    session.run("python", "scripts/fuzz.py", *session.posargs, env=UNRECORDED)


@nox.session
def kills(session: nox.Session) -> None:
    """200 kills (-9) of runs and of a fetch: no row is lost, and no half model passes for one."""
    install(session, "test", extra="torch")
    session.run("python", "scripts/kills.py", *session.posargs, env=UNRECORDED)


@nox.session
def bridge_kills(session: nox.Session) -> None:
    """100 kills (-9) of executors of the bridge: every request ends answered once, and nothing is left behind."""
    install(session, "test", extra="run,serve,page")
    session.run("python", "scripts/bridge_kills.py", *session.posargs, env=UNRECORDED)


@nox.session
def review(session: nox.Session) -> None:
    """All of `k3 review --suite tiny`, at its smallest: each step of a Mac's review works."""
    install(session, "test", extra="torch,serve,page")
    smallest = ("--samples", "1", "--processes", "1")
    out = ("--out", str(Path(session.create_tmp()) / "review"))
    command = ("k3", "review", "--suite", "tiny", *smallest, *out, *session.posargs)
    # 2: one prompt of k3-tiny may end in a loop. 3 would be a step that failed.
    session.run(*command, env=UNRECORDED, success_codes=[0, 2])


@nox.session
def load(session: nox.Session) -> None:
    """1,000 histories an engine, split and interleaved; then 16 clients on 64 sessions for 5 minutes, 100 killed,
    and what the server's process then holds."""
    install(session, "test", extra="serve")
    session.run("python", "scripts/session_histories.py", env=UNRECORDED)
    session.run("python", "scripts/session_load.py", *session.posargs, env=UNRECORDED)


@nox.session
def audit(session: nox.Session) -> None:
    """No known vulnerability in what K3 installs."""
    install(session, extra="torch,serve,http,page,sweep,attest,gpu")
    session.install("pip-audit>=2.9")
    session.run("pip-audit", "--local", *session.posargs)
