"""The report of a small run before anything was measured, and where it would be measured."""

from reports.records.measurement import Arm
from reports.records.plan import PlanInfo
from reports.records.provenance import Host, ModelInfo, Provenance, SourceCode
from reports.report import Report

DIGEST, OTHER = "sha256:" + "a" * 64, "sha256:" + "b" * 64
MODEL = ModelInfo(role="verifier", id="v", weights=DIGEST, config=DIGEST, tokenizer=DIGEST)


def provenance(**changes: object) -> Provenance:
    host = Host(os="Linux 6.1", machine="x86_64")
    source = SourceCode(git_commit="a" * 40, dirty=False)
    found = Provenance(source=source, argv=("k3", "eval"), host=host, device="cpu", models=(MODEL,))
    return found.replace(**changes)


def skeleton(digest: str = DIGEST, **changes: object) -> Report:
    plan = PlanInfo(digest=digest, samples=2, repeats=1, order=(), complete=False)
    arms = tuple(Arm(name=name, role="sut", engine="ar", measurements=()) for name in ("one", "two"))
    found = Report(kind="niah", report_id="x", provenance=provenance(), plan=plan, arms=arms)
    return found.replace(**changes)
