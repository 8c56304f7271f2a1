"""A smoke of a server that did everything right, and a green test run."""

from datetime import UTC, datetime

from reports.records.conduct.platform_tests import FileCoverage, PlatformTests, TestCase
from reports.records.conduct.runtime_smoke import RuntimeSmoke, SmokeFrame, SmokeStep
from reports.records.measurement import Restoration
from reports.report import Report
from tests.gate.honest.machine import provenance
from tests.gate.honest.setup import digest

CREATED = datetime(2026, 11, 29, 16, 10, tzinfo=UTC)
STREAM = (41, 7, 12)
SUITE = "pytest"


def measured_smoke() -> Report:
    """Ten steps over an incremental engine with sink 4 and window 64, before judgement."""
    return Report(
        kind="runtime_smoke",
        report_id="smoke-smollm2-incremental",
        created_at=CREATED,
        provenance=provenance(),
        runtime_smoke=RuntimeSmoke(
            server="started",
            engine="incremental",
            decode_loop="incremental_step",
            restoration=Restoration(mode="ablate", exact_layers=(), sink=4, window=64, eviction="strict"),
            steps=_steps(),
        ),
    )


def _steps() -> tuple[SmokeStep, ...]:
    short = {"history_length": 24, "history_digest": digest("short")}
    long = {"history_length": 100, "history_digest": digest("long"), "appends": 1}
    return (
        SmokeStep(step="create", expected="OK", observed="OK", elapsed_ms=1.5),
        SmokeStep(step="append", expected="OK", observed="OK", elapsed_ms=60.0, **short, appends=1),
        _generated("generate", STREAM, "MAX_TOKENS", max_tokens=3, **short, appends=1),
        _generated("generate_to_stop", STREAM, "EOS", max_tokens=16, stop_token=12, **short, appends=24),
        _refused("generate_before_append", "INVALID_ARGUMENT", history_length=0, max_tokens=3),
        _refused("generate_nothing", "INVALID_ARGUMENT", **short, max_tokens=0),
        _refused("generate_sampled", "INVALID_ARGUMENT", **short, max_tokens=3),
        _refused("unknown_session", "NOT_FOUND", max_tokens=3),
        _generated("generate_truncated", (5, 6, 9), "MAX_TOKENS", dropped=32, max_tokens=3, **long),
        _refused("no_generator", "UNIMPLEMENTED", max_tokens=3),
    )


def _generated(step: str, tokens: tuple[int, ...], stop: str, dropped: int | None = None, **told: object) -> SmokeStep:
    frames = [SmokeFrame(frame="truncated", dropped=dropped)] if dropped is not None else []
    frames += [SmokeFrame(frame="block", token_ids=(token,)) for token in tokens]
    frames.append(SmokeFrame.model_validate({"frame": "done", "stop": stop, "tokens": len(tokens)}))
    row = {"step": step, "expected": "OK", "observed": "OK", "elapsed_ms": 9.5, "frames": tuple(frames)}
    return SmokeStep.model_validate(row | told)


def _refused(step: str, status: str, **told: object) -> SmokeStep:
    row = {"step": step, "expected": status, "observed": status, "elapsed_ms": 0.7, "said": "no"}
    return SmokeStep.model_validate(row | told)


def measured_tests() -> Report:
    """Twelve cases, one of them skipped for a reason, before judgement."""
    cases = [TestCase(name=f"tests.test_it::test_{n}", outcome="passed", seconds=0.25) for n in range(11)]
    cases.append(TestCase(name="tests.test_it::test_mac", outcome="skipped", reason="needs a Mac"))
    of = provenance()
    assert of.source is not None
    return Report(
        kind="platform_tests",
        report_id="tests-pytest",
        created_at=CREATED,
        provenance=of.replace(models=(), device=None, blas=None),
        platform_tests=PlatformTests(
            suite=SUITE,
            command="pytest -q",
            git_commit=of.source.git_commit,
            results=(digest("results.xml"),),
            tests=12,
            failures=0,
            errors=0,
            skipped=1,
            cases=tuple(cases),
            coverage=(FileCoverage(file="gate/judging/judge.py", lines=80, covered=78),),
        ),
    )
