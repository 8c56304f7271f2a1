"""The only home of thresholds. Each says its unit and where it comes from."""

MIN_SPEEDUP_SAMPLES = 5
"""Distinct prompts an arm needs before a ratio is printed (the smoke that started it had one)."""

MIN_DECODE_TOKENS = 32
"""Median decode tokens of an arm; under it, start-up dominates the ratio."""

MIN_REPEATS = 3
"""Repeats a sample."""

MIN_STREAM_SAMPLES = 5
"""Distinct prompts whose streams are compared or counted before a share of them is printed: as many as for a ratio."""

MIN_STREAM_TOKENS = 32
"""Tokens of those streams together, each prompt once; a cache rolled back wrongly is right for up to 7 tokens a stream,
and 5 prompts of which are not much more."""

MAX_PREFILL_SPREAD = 3.0
"""Largest over smallest prefill seconds a token within an arm."""

ORACLE_RECALL_FLOOR = 0.8
"""Under it the workload does not fit the model."""

CONTROL_DIFFERENCE_FLOOR = 0.2
"""The interval of (arm - control) recall must stay above this."""

NEEDLE_FREE_RECALL_CEILING = 0.0
"""A code recalled from a haystack without it was not recalled."""

EVICTION_GAP = 0.05
"""Relative distance allowed between the evictions of an arm and of its control, by position that left the window."""

NEEDLE_FREE_LENGTH = 0.1
"""Relative distance allowed between the lengths of a prompt and its needle-free twin, which differ by one line."""

NEEDLE_FREE_LENGTH_TOKENS = 32
"""The same in tokens, for short prompts: the one line."""

WARMUP_OUTLIER = 1.5
"""The first run of an arm took this many times the median of its others, a token: it paid for a warm-up."""

MIN_PARITY_TOKENS = 48
"""Proposed tokens compared before two runtimes of a drafter agree; the predecessor compared 96."""

CODEC_BITS_SPREAD = 0.1
"""Relative distance allowed between a codec's bits a value on its samples: padding of short prompts."""

MIN_SCALE_BITS = 0.1
"""Bits a value that scales add to an affine codec at least (float16 scales of groups of 128, no bias: 0.125)."""

MAX_SCALE_BITS = 2.0
"""Bits a value that scales and biases add to an affine codec at most (float32, both, for groups of 32)."""

MAX_IDENTITY_KL = 1e-5
"""Nats by which logits may differ after K/V were stored unchanged: rounding of a batch of rows beside a single one."""

MEMORY_GAP = 0.05
"""Relative distance allowed between formula and measured K/V bytes."""

CACHE_STEP = 256
"""Positions by which a cache grows at once: measured bytes may hold that much empty room."""

MAX_BYTES_EXCESS = 1.25
"""Measured K/V bytes over those of the positions a bounded cache keeps, at the oracle's bytes a position."""

STAGE_SLACK_S = 0.001
"""Seconds by which stages may miss the time they are stages of, beside the relative slack: clocks are read between."""

STAGE_SLACK_RELATIVE = 0.005
"""The same as a share of that time."""

IMPORTED_STAGE_SLACK_S = 0.010
"""The same for imported rows, whose stages are rounded each (the predecessor's sums miss by up to 6 ms)."""

IMPORTED_STAGE_SLACK_RELATIVE = 0.02
"""The same as a share."""

LEAST_TOKEN_S = 1e-7
"""Seconds a token takes at least, read or decoded: a rack of accelerators does a million a second."""

MOST_STAGE_S = 1e6
"""Seconds a stage of one row takes at most: eleven days."""

NEAR_TIE_GAP = 0.01
"""Logit gap under which another argmax is a numerical tie in float32 (L=1 against L=8 differ by 5e-5 at most; the
smallest top-2 gap met was 0.016)."""

MAX_TIES = 0.002
"""Ties among the audited tokens of an arm in float32, beside a first one; numerical noise of 5e-5 flips fewer than one
token in 10,000."""

NEAR_TIE_GAP_FLOAT16 = 0.05
"""The same for a verifier in float16, whose logits near 32 are 0.03 apart."""

NEAR_TIE_GAP_BFLOAT16 = 0.25
"""The same for bfloat16: logits near 32 are 0.25 apart, and ties were seen to flip in one token of 150 to 190."""

MIN_FAITHFULNESS_TOKENS = 32
"""Positions a verifier must have been compared on; one position proves nothing about RoPE."""

MAX_TOKENS_SPREAD = 4.0
"""Most over fewest decode tokens among the rows of an arm; 128 beside 7 make a median of nothing."""

MAX_PAIR_TOKENS_RATIO = 1.1
"""Longer over shorter stream of a pair; beyond it the ratio compares stops."""

MAX_NULL_RATIO = 1.1
"""A/A ratio, either way, that noise around an interval without 1 may still have."""

MAX_SPEEDUP_PER_COMMITTED = 1.1
"""Decode speed-up over committed tokens a block; above 1 only by the overhead of the oracle's own loop."""

MIN_VERIFY_STEPS = 0.75
"""Seconds to verify a block over those of a step of the oracle, medians; a forward of a block reads the same weights,
and only what surrounds a step may be saved."""

MAX_PREFILL_RATIO = 1.25
"""Oracle's over arm's prefill seconds, median of pairs, where both read the prompt into the same native cache."""

MAX_SAME_WORK_RATIO = 1.25
"""Decode speed-up of an arm that computes what the oracle computes, over the same K/V, in a loop of its own."""

LEAST_SPREAD = 1e-4
"""Relative spread that runs of a machine have at least; quiet ones scatter by 1e-3."""

MIN_COINCIDENCES = 5
"""Times without that spread that are no chance any more, beside the first of them."""

MIN_ARGMAX_AGREEMENT = 0.99
"""A loaded verifier against the reference implementation, on a fixed text."""

MAX_LOGIT_GAP = 1.0
"""Largest logit difference to the reference (mlx-lm's Gemma: 0.7, known; a wrong RoPE base: 14.7)."""

MIN_RUN_TOKENS = 64
"""Positions a verifier of another type than float32 must have been compared on in that type."""

MIN_RUN_AGREEMENT = 0.85
"""The same in the type it runs in (4 bits in bfloat16: 0.94 to 0.98; with MLX summing in bfloat16 on a CPU: 0.73)."""

FIGURE_TOLERANCE = 1e-6
"""Relative distance within which a stated figure of ours equals the derived one."""

STATED_TOLERANCE = 0.01
"""The same for imported figures, which are rounded."""

STATED_ROUNDING = 0.0006
"""The same absolutely: imported ratios and shares are printed with three decimals."""

RESTORATION_S_PER_POSITION = 3e-7
"""Seconds a token position outside sink + window at least takes to restore in all layers; 1 ms for 5,000 tokens, also
where it was rounded from 1.49 ms, is nothing restored (copying SmolLM2's K/V of one position took 4e-6)."""
