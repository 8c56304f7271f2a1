"""What a threshold is, and those that rules, figures and claims share. One that a single rule uses stands with it."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from reports.scoring import collapse

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Threshold(Generic[Number]):
    """A named number at which a rule changes its mind.

    `unit` says what is counted, `meaning` what the number bounds, `source` why it is this one: a measurement, another
    declaration, or a choice and its reason.
    """

    name: str
    value: Number
    unit: str
    meaning: str
    source: str


AnyThreshold = Threshold[int] | Threshold[float]

MIN_SPEEDUP_SAMPLES = Threshold(
    "MIN_SPEEDUP_SAMPLES",
    5,
    "prompts",
    meaning="Distinct prompts that an arm needs before a ratio is printed.",
    source="the smoke that became a headline had one",
)

MIN_DECODE_TOKENS = Threshold(
    "MIN_DECODE_TOKENS",
    32,
    "tokens",
    meaning="Median decode tokens of an arm below which start-up dominates its rate; as many equal tokens "
    "make two streams one.",
    source="eight tokens took half a second, most of it the start of decoding",
)

MIN_FAITHFULNESS_TOKENS = Threshold(
    "MIN_FAITHFULNESS_TOKENS",
    32,
    "positions",
    meaning="Positions on which a model must have been compared with its reference implementation.",
    source="a choice: one position proves nothing about RoPE",
)

MIN_ARGMAX_AGREEMENT = Threshold(
    "MIN_ARGMAX_AGREEMENT",
    0.99,
    "share of positions",
    meaning="Least agreement of a loaded model's choices with its reference, both in float32, on a fixed text.",
    source="a config read without its RoPE base gave 0.96, faithful ones 1.0",
)

MAX_LOGIT_GAP = Threshold(
    "MAX_LOGIT_GAP",
    1.0,
    "logits",
    meaning="Largest difference of any logit from the reference.",
    source="mlx-lm's Gemma: 0.7, known and harmless; a wrong RoPE base: 14.7",
)

MIN_RUN_AGREEMENT = Threshold(
    "MIN_RUN_AGREEMENT",
    0.85,
    "share of positions",
    meaning="Least agreement with the reference in the type that the model runs in, where that is not float32.",
    source="4 bits in bfloat16: 0.94 to 0.98; with MLX summing in bfloat16 on a CPU: 0.73",
)

MIN_PARITY_TOKENS = Threshold(
    "MIN_PARITY_TOKENS",
    48,
    "tokens",
    meaning="Proposed tokens of distinct blocks that two runtimes of a drafter must have been compared on.",
    source="a choice: half of the 96 that the predecessor compared",
)

LEVEL = Threshold(
    "LEVEL",
    0.05,
    "probability",
    meaning="Chance of any false ratio, or of any false verdict on a codec, in a report, over all its arms together.",
    source="the usual choice; `nox -s method` simulates that it is kept",
)

MIN_CODEC_PROMPTS = Threshold(
    "MIN_CODEC_PROMPTS",
    10,
    "prompts",
    meaning="Prompts on which a codec and affine 4 are compared before a verdict is given.",
    source="method: of fifteen equal codecs, 360 of 400 reports found one better over fewer",
)

ORACLE_RECALL_FLOOR = Threshold(
    "ORACLE_RECALL_FLOOR",
    0.8,
    "share of prompts",
    meaning="Recall of the plain model below which the workload does not fit it.",
    source="a choice: four of five",
)

FIGURE_TOLERANCE = Threshold(
    "FIGURE_TOLERANCE",
    1e-6,
    "relative distance",
    meaning="Within it a figure that a report of K3 states equals the derived one.",
    source="a choice: far above what sums in another order differ by",
)

STATED_TOLERANCE = Threshold(
    "STATED_TOLERANCE",
    0.01,
    "relative distance",
    meaning="The same for figures that other tools state, which are rounded.",
    source="a choice: tools print two or three digits",
)

MEMORY_GAP = Threshold(
    "MEMORY_GAP",
    0.05,
    "relative distance",
    meaning="Between K/V bytes by formula and by measurement.",
    source="a choice: formulas leave out what arrays keep free at their ends",
)

CACHE_STEP = Threshold(
    "CACHE_STEP",
    256,
    "positions",
    meaning="Positions by which a cache grows at once: measured bytes may hold that much empty room.",
    source="`KVCache.step` of mlx-lm",
)

RESTORATION_S_PER_POSITION = Threshold(
    "RESTORATION_S_PER_POSITION",
    3e-7,
    "s",
    meaning="Seconds that restoring one position outside sink + window in all layers takes at least; in "
    "less, nothing was restored.",
    source="copying SmolLM2's K/V of one position took 4e-6; 1 ms for 5,000 positions, also where it was "
    "rounded from 1.49 ms, was a flag without work",
)

DEGENERATE_LINES = Threshold(
    "DEGENERATE_LINES",
    collapse.DEGENERATE_LINES,
    "lines",
    meaning="So many short equal lines, in a row or making up half of a text, are a collapse.",
    source="`reports.scoring.collapse`, by which the workload scores, too",
)

DEGENERATE_LINE_LENGTH = Threshold(
    "DEGENERATE_LINE_LENGTH",
    collapse.DEGENERATE_LINE_LENGTH,
    "characters",
    meaning="Up to so many a line is short.",
    source="`reports.scoring.collapse`",
)

DEGENERATE_UNIT = Threshold(
    "DEGENERATE_UNIT",
    collapse.DEGENERATE_UNIT,
    "characters",
    meaning="Longest unit whose repetition at the tail of a text is looked for.",
    source="`reports.scoring.collapse`",
)

DEGENERATE_REPEATS = Threshold(
    "DEGENERATE_REPEATS",
    collapse.DEGENERATE_REPEATS,
    "repeats",
    meaning="So many repeats of a unit at the tail are a collapse.",
    source="`reports.scoring.collapse`",
)

NEAR_TIE_GAP = Threshold(
    "NEAR_TIE_GAP",
    0.01,
    "logits",
    meaning="Gap under which another argmax is a numerical tie in float32.",
    source="L=1 against L=8 differ by 5e-5 at most; the smallest top-2 gap met was 0.016",
)

NEAR_TIE_GAP_FLOAT16 = Threshold(
    "NEAR_TIE_GAP_FLOAT16",
    0.05,
    "logits",
    meaning="The same for a verifier in float16.",
    source="its logits near 32 are 0.03 apart",
)

NEAR_TIE_GAP_BFLOAT16 = Threshold(
    "NEAR_TIE_GAP_BFLOAT16",
    0.25,
    "logits",
    meaning="The same for bfloat16.",
    source="logits near 32 are 0.25 apart, and ties were seen to flip in one token of 150 to 190",
)

REPLAY_TOLERANCE = Threshold(
    "REPLAY_TOLERANCE",
    0.001,
    "share of the value",
    meaning="Up to which a measured number that is no count (a codec's error, a divergence) is the same one.",
    source="a choice: sums in another order move errors by 1e-5 at most, and a doctored error by percents",
)

REPLAY_TOLERANCE_ELSEWHERE = Threshold(
    "REPLAY_TOLERANCE_ELSEWHERE",
    0.02,
    "share of the value",
    meaning="The same, where the machine, a package or what is computed on is another.",
    source="measured: two machines of one kind, SmolLM2-135M, 28 codec rows: the attention errors of single layers are "
    "up to 0.76 % apart, all else is under 0.06 %. Rounding turns over a code that many positions attend to",
)

REPLAY_FLOOR = Threshold(
    "REPLAY_FLOOR",
    0.00001,
    "absolute",
    meaning="Up to which two such numbers are the same whatever their size.",
    source="divergences near 0 are differences of rounded logits",
)
