"""Scores against the text they were given for."""

from collections.abc import Iterator

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import KV_CODEC, RECALL, Example, Finding
from gate.rulebook.thresholds import DEGENERATE_LINE_LENGTH, DEGENERATE_LINES, DEGENERATE_REPEATS, DEGENERATE_UNIT
from reports.records.codec_rows import CodecSample, KvQuantResult, OracleSample, SecondQuestion
from reports.records.plan import PromptRecord
from reports.scoring import find_answer, first_turn, is_degenerate, score

