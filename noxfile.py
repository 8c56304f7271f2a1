"""The project's checks: `nox -s tests lint types bench`. Each session installs what it needs, pinned by constraints."""

import nox

nox.options.sessions = ["tests", "lint", "types"]
nox.options.reuse_existing_virtualenvs = True
CONSTRAINTS = ("-c", "constraints.txt")
PYPROJECT = nox.project.load_toml("pyproject.toml")


def install(session: nox.Session, *groups: str, torch: bool = False) -> None:
    """Install K3 and the named dependency groups; torch first and pinned, so that no range pulls a CUDA build."""
    if torch:
        session.install(*CONSTRAINTS, "torch")
    session.install(*CONSTRAINTS, ".", *nox.project.dependency_groups(PYPROJECT, *groups))


@nox.session
def tests(session: nox.Session) -> None:
    """All tests, on real models (fetched once into K3's cache): a process a core, and a thread of linear algebra each,
    since two that have all of them slow each other down."""
    install(session, "test", torch=True)
    session.run("k3", "models", "fetch", "smollm2-135m")
    session.run("k3", "models", "fetch", "gemma3-270m")
    session.run("pytest", "-n", "auto", *session.posargs, env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    session.run("k3", "gate", "check", "reports/evidence/")


@nox.session
def lint(session: nox.Session) -> None:
    """Style and format."""
    session.install(*CONSTRAINTS, *nox.project.dependency_groups(PYPROJECT, "lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Strict typing of the four packages."""
    install(session, "types", "test", torch=True)
    session.run("mypy")


@nox.session
def bench(session: nox.Session) -> None:
    """Speed and memory, as ratios measured in one run."""
    install(session, torch=False)
    session.run("k3", "models", "fetch", "smollm2-135m")
    scripts = ("startup", "gate", "engines", "fused", "codecs", "prefill_memory")
    for script in scripts:
        session.run("python", f"scripts/bench_{script}.py")


@nox.session
def doctoring(session: nox.Session) -> None:
    """10,000 doctored reports, none of which may say more than its run without being a known survivor."""
    install(session)
    session.run("python", "scripts/doctoring.py", "--cases", "10000", *session.posargs)
