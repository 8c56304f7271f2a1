"""Logs of MLPerf Inference's LoadGen: `mlperf_log_summary.txt` (lines of `name : value`) and `mlperf_log_detail.txt`
(a JSON object a line, behind a mark). A log is of one system in one scenario. LoadGen judges it; its verdict is kept,
as stated."""

import json
import re
from collections.abc import Iterator
from itertools import islice

from reports.importers.base import Importer, Source, mark, report_id
from reports.records.measurement import Arm, StatedRate
from reports.records.plan import WorkloadInfo
from reports.report import Report
from reports.untrusted.one_line import one_line
from reports.untrusted.strict_json import StrictJsonError, parse

NOTES = (
    "tokens a second are those of all queries together, as LoadGen counts them; no row of a query is in this log",
    "not recorded: the model, texts, token ids, correctness, prefill and decode apart, a baseline, digests, K/V bytes",
)
MARK = ":::MLLOG "
SUMMARY = "MLPerf Results Summary"
MOST_FIGURES = 60
"""Stated figures of a log that notes keep."""

LONGEST_SUMMARY = 100_000
"""Characters that are read of a summary; LoadGen's have some thousands."""

MOST_LINES = 200_000
"""Lines of a detail log that are read; LoadGen writes some thousands, and the results last."""

TOKENS = ("Completed tokens per second", "Tokens per second", "result_completed_tokens_per_second",
          "result_tokens_per_second")  # fmt: skip
"""What the rate is called, by scenario, in the summary and in the detail log."""

SYSTEM = ("SUT name", "sut_name", "generic_sut_name")
_ENTRY = re.compile(rf"^{MARK}([^\n]{{1,10000}})$", re.MULTILINE)
_STATED = ("result_", "effective_scenario", "effective_test_mode", "loadgen_version")


def _recognises(source: Source) -> bool:
    return source.text and (SUMMARY in source.value[:LONGEST_SUMMARY] or source.value.lstrip().startswith(MARK))


def _load(source: Source) -> Report:
    detail = source.value.lstrip().startswith(MARK)
    figures = dict(_of_detail(source.value) if detail else _of_summary(source.value))
    system = next((figures[name] for name in SYSTEM if name in figures), "system under test")
    rates = (_rate(figures[name]) for name in TOKENS if name in figures)
    stated = next((rate for rate in rates if rate is not None), None)
    told = [f"stated: {name}: {value}" for name, value in figures.items()][:MOST_FIGURES]
    arm = Arm(
        name=one_line(system, 180) or "system under test",
        role="peer",
        engine=IMPORTER.name,
        measurements=(),
        stated_rates=(StatedRate(value=stated, scope="e2e", statistic="total"),) if stated is not None else (),
    )
    return Report(
        kind="benchmark",
        report_id=report_id(IMPORTER.name, source),
        imported=mark(IMPORTER.name, source, (*NOTES, *told), "detail" if detail else "summary"),
        workload=WorkloadInfo(name=IMPORTER.name),
        arms=(arm,),
    )


def _of_summary(text: str) -> Iterator[tuple[str, str]]:
    for line in text[:LONGEST_SUMMARY].split("\n"):
        name, colon, value = line.partition(":")
        if colon and name.strip() and value.strip():
            yield one_line(name.strip(), 80), one_line(value.strip(), 200)


def _of_detail(text: str) -> Iterator[tuple[str, str]]:
    """Results and what identifies the run; a line that is cut, as the last one of a killed run, says nothing."""
    for found in islice(_ENTRY.finditer(text), MOST_LINES):
        try:
            entry = parse(found[1].encode()).value
        except StrictJsonError:
            continue
        key = entry.get("key") if isinstance(entry, dict) else None
        if isinstance(key, str) and (key.startswith(_STATED) or key in SYSTEM):
            value = entry.get("value")
            yield one_line(key, 80), one_line(value if isinstance(value, str) else json.dumps(value), 200)


def _rate(stated: str) -> float | None:
    try:
        rate = float(stated)
    except ValueError:
        return None
    return rate if 0 < rate < 1e12 else None


IMPORTER = Importer("mlperf", _recognises, _load)
