"""A replay of a report that says the truth: every drawn row came out the same, at other times."""

from datetime import UTC, datetime

from reports.content_digest import content_digest
from reports.records.conduct.replay import AnyRow, ReplayedFact, ReplayedRow, ReplayResult
from reports.records.measurement import Measurement
from reports.replays.draw import draw
from reports.replays.facts import facts_of
from reports.replays.population import audit_key, audits_of, population, rows_of
from reports.report import Report

SEED = 7
ASKED = 6


def measured_replay(original: Report, asked: int = ASKED) -> Report:
    """Of `asked` rows, on the machine that measured `original`, before judgement."""
    digest, rows = content_digest(original), rows_of(original)
    drawn = draw(digest, SEED, asked, population(original))
    assert original.provenance is not None
    return Report(
        kind="replay",
        report_id=f"replay-{original.report_id}",
        created_at=datetime(2026, 11, 29, 19, 30, tzinfo=UTC),
        provenance=original.provenance,
        replay=ReplayResult(
            original=digest,
            original_id=original.report_id,
            original_kind=original.kind,
            original_host=original.provenance.host,
            original_packages=original.provenance.packages or (),
            original_runtime=original.provenance.runtime,
            seed=SEED,
            asked=asked,
            population=population(original),
            facts=tuple(
                ReplayedFact(field=field, original=told, replayed=told) for field, told in facts_of(original).items()
            ),
            rows=tuple(_row(original, one.arm, one.place, rows[one.arm][one.place]) for one in drawn),
        ),
    )


def _row(original: Report, arm: str, place: int, row: AnyRow) -> ReplayedRow:
    audit = audits_of(original).get(audit_key(arm, row))
    again = row.replace(decode_s=(row.decode_s or 0.0) * 2, order=None) if isinstance(row, Measurement) else row
    return ReplayedRow(arm=arm, place=place, original=row, replayed=again, original_audit=audit, audit=audit)
