"""A report as one HTML page that needs nothing from elsewhere: no script, no font, no link to fetch."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from gate.explain.story import claim_story, rule_story
from gate.figures.recall_frontier import frontier
from gate.judging.judged_file import JudgedFile
from gate.judging.rule_set import find_rule
from gate.render.headline import headline_line, reason_line, three_digits, withheld_line
from gate.render.page import frontier_chart as recall_by_bytes
from gate.render.page.chart import svg
from gate.render.page.codec_charts import codec_charts
from gate.render.report_header import header_of
from gate.render.tables import codec_cells
from gate.render.tables.arm_summary import summarise
from gate.render.tables.cells import COLUMNS, WORDS, cells
from gate.render.tables.codec_table import summarise_codecs
from gate.render.text import described
from gate.rulebook.claim_kinds import CLAIM_KINDS
from reports.records.measurement import Arm, Measurement
from reports.report import Report
from reports.untrusted.one_line import one_line

TEXT_LIMIT = 2000
_STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #1a7f37; --bad: #c62828; --dim: #6a6a6a; }
@media (prefers-color-scheme: dark) { :root { --good: #5fd07a; --bad: #ff8a80; --dim: #b0b0b0; } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 75rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; font-size: .875rem; } .wide { overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .625rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; } .figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.admissible { color: var(--good); } .invalid, .withheld, .unreadable { color: var(--bad); } .dim { color: var(--dim); }
.chart { max-width: 48rem; width: 100%; display: block; font-size: 12px; }
.chart text { fill: currentColor; } .chart .title { font-weight: 600; } .chart .grid { stroke: var(--line); }
summary { cursor: pointer; } caption { text-align: left; font-weight: 600; padding: .5rem 0; }
"""


def page(report: Report, judged: JudgedFile) -> str:
    """The page: verdict, claims, violations with their explanation, arms, provenance, rows. Every string is escaped."""
    title = f"{_text(report.report_id)}: {judged.state}"
    body = [
        f"<h1>{_text(report.report_id)}</h1>",
        f'<p>Verdict: <strong class="{judged.state.split()[0]}">{judged.state}</strong>. {_origin(report, judged)}</p>',
        *_section("Claims", _claims(judged)),
        *_section("Violations", _violations(judged)),
        *_section("What the claims and codes mean", _meanings(judged)),
        *_section("Arms", _arms(report, judged)),
        *(_section("Recall against bytes", _frontier(report)) if frontier(report) else ()),
        *(_section("Codecs", _codecs(report, judged)) if report.kv_quant is not None else ()),
        *_section("Where it comes from", _table("Provenance", ("", ""), header_of(report).items(), words=2)),
        *_section("Rows", (line for arm in report.arms for line in _rows(arm))),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">""",
            f"<title>{title}</title><style>{_STYLE}</style></head>",
            "<body><main>",
            *body,
            "</main></body></html>",
            "",
        ]
    )


def _section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    content = list(lines)
    yield f"<section><h2>{heading}</h2>"
    yield from content or ['<p class="dim">None.</p>']
    yield "</section>"


def _origin(report: Report, judged: JudgedFile) -> str:
    if report.imported is None:
        return f"Measured by K3, kind {report.kind}."
    return f"Imported by {_text(judged.source or report.imported.importer)}; not measured by K3, not verified."


def _claims(judged: JudgedFile) -> Iterator[str]:
    if not judged.claims:
        return
    shown = {admitted.claim.name for admitted in judged.headlines}
    yield "<ul>"
    for admitted in judged.headlines:
        yield f'<li class="admissible">{_text(headline_line(admitted))}</li>'
    for claim in judged.claims:
        if claim.name not in shown:
            yield f"<li>{_text(withheld_line(claim))}</li>"
    yield "</ul>"
    if judged.reasons:
        yield "<ul>"
        yield from (f"<li>{_text(reason_line(reason))}</li>" for reason in judged.reasons)
        yield "</ul>"


def _violations(judged: JudgedFile) -> Iterator[str]:
    for code in dict.fromkeys(violation.code for violation in judged.violations):
        rule = find_rule(code)
        yield f"<h3>{_text(code)}{f': {_text(rule.title)}' if rule is not None else ''}</h3>"
        yield "<ul>"
        yield from (f"<li>{_text(described(each))}</li>" for each in judged.violations if each.code == code)
        yield "</ul>"
        if rule is not None:
            yield _details(f"About {code}", rule_story(rule))


def _meanings(judged: JudgedFile) -> Iterator[str]:
    """Every kind of claim in the report, and every code that withholds one and is explained nowhere above."""
    for kind in (CLAIM_KINDS[metric] for metric in dict.fromkeys(claim.metric for claim in judged.claims)):
        yield _details(f"{kind.metric}: {kind.title}", claim_story(kind))
    told = {violation.code for violation in judged.violations}
    for code in sorted({code for claim in judged.claims for code in claim.withheld_by} - told):
        rule = find_rule(code)
        if rule is not None:
            yield _details(f"{code}: {rule.title}", rule_story(rule))


def _details(summary: str, parts: Iterable[tuple[str, str]]) -> str:
    listed = "".join(f"<dt>{_text(label)}</dt><dd>{_text(text)}</dd>" for label, text in parts)
    return f"<details><summary>{_text(summary)}</summary><dl>{listed}</dl></details>"


def _arms(report: Report, judged: JudgedFile) -> Iterator[str]:
    rows = [cells(arm) for arm in summarise(report, judged)]
    if rows:
        yield from _table("Medians over the rows of each arm", COLUMNS, rows, words=WORDS)


def _frontier(report: Report) -> Iterator[str]:
    """The picture, and its figures."""
    points = frontier(report)
    yield svg(recall_by_bytes.chart(points))
    rows = (recall_by_bytes.row(point) for point in points)
    columns, words = recall_by_bytes.COLUMNS, recall_by_bytes.WORDS
    yield from _table("Recall and resident bytes of each arm that bounds its cache", columns, rows, words=words)


def _codecs(report: Report, judged: JudgedFile) -> Iterator[str]:
    """Charts over bits a value, the table of all codecs, and what could not be run."""
    result = report.kv_quant
    if result is None:
        return
    summaries = summarise_codecs(result)
    yield from (svg(chart) for chart in codec_charts(summaries))
    rows = (codec_cells.row(summary) for summary in summaries)
    yield from _table("Means over the samples of each codec", codec_cells.COLUMNS, rows, words=codec_cells.WORDS)
    yield from (f"<p>Not run: {_text(f'{one.name}: {one.reason}')}</p>" for one in result.refused)


_ROW_COLUMNS = ("sample", "repeat", "order", "prefill s", "decode s", "decode tokens", "correct", "stopped by", "text")


def _rows(arm: Arm) -> Iterator[str]:
    yield f"<details><summary>{_text(arm.name)}: {len(arm.measurements)} rows</summary>"
    yield from _table(arm.name, _ROW_COLUMNS, (_row(row) for row in arm.measurements), words=0, last_is_words=True)
    yield "</details>"


def _row(row: Measurement) -> tuple[str, ...]:
    return (
        str(row.sample),
        str(row.repeat),
        _plain(row.order),
        three_digits(row.prefill_s) if row.prefill_s is not None else "",
        three_digits(row.decode_s) if row.decode_s is not None else "",
        _plain(row.decode_tokens),
        {True: "yes", False: "no", None: ""}[row.correct],
        row.stop_reason or "",
        row.text or "",
    )


def _plain(value: int | None) -> str:
    return str(value) if value is not None else ""


def _table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: int,
    last_is_words: bool = False,
) -> Iterator[str]:
    """A table that scrolls by itself; columns from number `words` on hold figures. Without headings, rows have them."""
    figures = [number >= words and not (last_is_words and number == len(columns) - 1) for number in range(len(columns))]
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{_text(caption)}"><table>'
    yield f"<caption>{_text(caption)}</caption>"
    if any(columns):
        heads = "".join(
            f'<th scope="col"{_class(right)}>{_text(c)}</th>' for c, right in zip(columns, figures, strict=True)
        )
        yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for row in rows:
        first = f'<th scope="row"{_class(figures[0])}>{_text(row[0])}</th>'
        rest = "".join(
            f"<td{_class(right)}>{_text(cell)}</td>" for cell, right in zip(row[1:], figures[1:], strict=True)
        )
        yield f"<tr>{first}{rest}</tr>"
    yield "</tbody></table></div>"


def _class(right: bool) -> str:
    return ' class="figure"' if right else ""


def _text(text: str) -> str:
    """One line of text, its control codes visible, safe in an element and in a quoted attribute."""
    return escape(one_line(text, TEXT_LIMIT), quote=True)
