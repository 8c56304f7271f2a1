"""A short bad and good example of every rule, for explanations. The tests hold a whole report of each kind a rule."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """What breaks the rule, and what the same place looks like when it is sound."""

    bad: str
    good: str


EXAMPLES: dict[str, Example] = {
    # Files
    "LEGACY_SCHEMA": Example(
        "`schema_version` 1 with a printed speed-up", "the run measured again, `schema_version` 2"
    ),
    "SCHEMA_INVALID": Example('`"repeat": "3"`, a string where a number belongs', '`"repeat": 3`'),
    "RETRACTED": Example("the digest of the file stands in RETRACTIONS.toml", "the report that supersedes it is cited"),
    "IMPORTED_UNVERIFIED": Example("a speed-up in a file of llama-bench", "the same comparison measured by K3"),
    "PROVENANCE_MISSING": Example(
        "no commit, no host, no package versions", "commit, argv, host and packages recorded"
    ),
    "DIRTY_TREE": Example("commit 3f2a... with `dirty` true", "the same commit, nothing changed beside it"),
    "MODEL_UNIDENTIFIED": Example("a verifier named `my-model`, no digest", "its id, revision and weight digest"),
    "MODEL_UNFAITHFUL": Example(
        "argmax agreement 0.961 with the reference, logits off by 14.7 (a wrong RoPE base)",
        "argmax agreement 1.0, largest logit gap 0.0002",
    ),
    "UNREADABLE": Example("a link that leads back to itself", "a file that can be read"),
    "KIND_MISMATCH": Example("kind `parity` without a block", "kind `parity` with the blocks of both runtimes"),
    "DUPLICATE_RECORDS": Example("two rows of sample 3, repeat 0 in one arm", "one row a sample and repeat"),
    "RUN_INCOMPLETE": Example("3 repeats planned, 44 of 45 rows", "3 repeats planned, 45 of 45 rows"),
    "RUN_ORDER": Example("a row that says 7th, a plan that says 9th", "rows and plan give the same order"),
    "WORKLOAD_DIGEST": Example("a prompt swapped under the old workload digest", "the digest of the prompts that ran"),
    "PROMPT_REPEATED": Example("samples 0 to 4 with one prompt digest", "a digest of its own for every sample"),
    "COPIED_ROWS": Example("two rows of 1.204873 s and 3.918236 s alike", "rows whose times differ, as clocks do"),
    "TIMES_WITHOUT_NOISE": Example(
        "an arm whose 15 rows take 1.0100 times the oracle's", "ratios from 0.97 to 1.04, as machines give"
    ),
    # Was the system under test there at all
    "MISSING_STAGE_TIMINGS": Example("a row with `e2e_s` alone", "a row with `prefill_s`, `decode_s` and `e2e_s`"),
    "MISSING_RESTORATION_FLAG": Example(
        "rows of an `identity` arm without `restoration_active`", "`restoration_active` true, 12,000 positions restored"
    ),
    "MIXED_RESTORATION_PATHS": Example("3 of 5 rows restored, 2 native", "5 of 5 rows restored"),
    "MISSING_LIVENESS": Example("a fused arm whose rows record no blocks", "rows that list every block"),
    "PROPOSER_NEVER_RAN": Example("64 blocks, 0 drafts", "64 blocks, 448 drafts"),
    "FTHETA_NOT_RUN": Example(
        "`f_theta` rows that restored nothing, or 5,000 tokens in 1 ms", "rows that restored every evicted position"
    ),
    "RESTORATION_COUNTS": Example(
        "a row flagged as restored with 0 positions restored", "a row that restored the positions it evicted"
    ),
    "EVICTION_NEVER_RAN": Example(
        "sink + window 68, 620 tokens, 0 positions evicted", "sink + window 68, 620 tokens, 552 evicted in each layer"
    ),
    "EVICTION_ARITHMETIC": Example(
        "620 tokens, sink + window 20, 552 evicted in each layer", "620 tokens, sink + window 68, 552 evicted in each"
    ),
    "SILENT_FALLBACK": Example("`fallbacks` names the plain loop", "`fallbacks` is an empty list"),
    "FUSED_NEVER_RAN": Example("a fused arm with 0 blocks over all its rows", "a fused arm with 64 blocks"),
    "BASELINE_AS_SUT": Example(
        "an arm that neither restored nor drafted, presented as the system", "the same arm, labelled native_ar_baseline"
    ),
    "LABEL_CONTRADICTED": Example(
        "labelled native_ar_baseline, and its rows drafted", "labelled for what its rows did"
    ),
    "BASELINE_RECALL_CLAIM": Example("a native arm claims restoration_recall", "it claims native_baseline_recall"),
    "NAME_UNFIT": Example("labelled `k3 fused, 5x faster`", "labelled `k3 fused, prompt lookup, blocks of 8`"),
    "ENGINE_CONTRADICTED": Example(
        "engine `incremental`, decoded with `native_step`", "engine `incremental`, decoded with `incremental_step`"
    ),
    "MEMORY_TABLE": Example("1.5 MB measured by the table, 3.1 MB by its row", "3.1 MB in the table and in its row"),
    "IMPORT_FIELD": Example("`stated_acceptance` 0.86 in a report of K3", "nothing stated; acceptance from the blocks"),
    "BYTES_IMPOSSIBLE": Example("a peak of 1,000 bytes with 29 MB of K/V", "a peak of 570 MB with 29 MB of K/V"),
    "PLAN_CONTRADICTED": Example("`samples=500` among the overrides, 5 samples planned", "`samples=5`, 5 planned"),
    "NEEDLE_ARITHMETIC": Example(
        "a depth of 0.5 for a needle at 81 of 659", "a depth of 0.123 for a needle at 81 of 659"
    ),
    # Arithmetic and streams
    "CLAIM_NOT_REPRODUCIBLE": Example("claims 50x, the rows give 1.31x", "claims 1.31x, the rows give 1.31x"),
    "CLAIM_MISLABELLED": Example(
        "decode_speedup/fused, measured against the ablated control",
        "decode_speedup/fused, measured against the oracle",
    ),
    "ACCEPTANCE_DENOMINATOR": Example(
        "86 % of the output tokens were drafted", "41 % of the drafts accepted, 2.9 committed a block, and by position"
    ),
    "TOKEN_ARITHMETIC": Example("48 token ids, 48 decode tokens", "48 token ids, 47 decode tokens"),
    "BLOCK_ARITHMETIC": Example(
        "12 blocks that commit 40 tokens, 47 tokens after the first", "12 blocks that commit 47, accepted + 1 in each"
    ),
    "STAGE_ARITHMETIC": Example(
        "prefill 3.0 s, decode 2.0 s, end to end 4.0 s", "prefill 3.0 s, decode 2.0 s, end to end 5.0 s"
    ),
    "STREAM_DIVERGENCE": Example(
        "a fused stream leaves the verifier's argmax by a gap of 2.4", "every token is the argmax, or tied within 0.01"
    ),
    "STREAM_UNAUDITED": Example("a fused arm without `stream_audit`", "every distinct stream of the arm audited"),
    "STREAM_TIES": Example("5 ties in 240 tokens of float32", "no tie in 240 tokens, or one"),
    "STREAM_SAMPLES": Example("token identity 1/1, one stream of 4 tokens", "5/5, streams of 10 tokens from 5 prompts"),
    "STREAM_REPEATED": Example("48 equal tokens for two prompts", "a stream of its own for every prompt"),
    "STREAM_AUDIT_MISMATCH": Example("40 tokens checked of a stream of 48", "48 tokens checked of a stream of 48"),
    "STREAM_AUDIT_SILENT": Example(
        "a control that says another code, audited without a mismatch", "its audit: 3.8 logits from the oracle's token"
    ),
    "OUTPUT_DEGENERATE": Example("`la la la la la la la la la`", "`The code is BETA-1409.`"),
    "PROMPT_MISMATCH": Example("two arms with different digests for sample 3", "the same digest in both"),
    "EARLY_STOP": Example(
        "the arm stops after 40 tokens, the oracle after 128", "both decode their full budget of 128"
    ),
    # Speed
    "SPEEDUP_SELF_COMPARISON": Example(
        "an arm that runs the oracle's own loop, claimed 1.2x", "the same ratio reported as the A/A band"
    ),
    "SPEEDUP_SAMPLES": Example("one prompt, repeated three times", "5 distinct prompts, 3 repeats each"),
    "SPEEDUP_REPEATS": Example("one run a prompt", "3 runs a prompt, in alternating order"),
    "SPEEDUP_DECODE_TOKENS": Example("median of 8 decode tokens", "median of 128 decode tokens"),
    "SPEEDUP_DECODE_ONLY_MISSING": Example("a ratio of end-to-end times", "a ratio of decode tok/s, prefill left out"),
    "SPEEDUP_PREFILL_LEFT_OUT": Example(
        "3.46x decode-only, 0.53x with the prefill, and only the first is claimed", "both ratios are claimed"
    ),
    "SPEEDUP_LOSSY": Example(
        "a fused arm over f_theta at 1.6x that continues 17 of 20 prompts as the oracle does",
        "the same ratio of an arm that continues all 20 so",
    ),
    "SPEEDUP_SCOPE_MISMATCH": Example("one arm timed in stages, the other end to end", "both timed in stages"),
    "SPEEDUP_ORACLE_LOOP": Example("an oracle of an own, slow loop", "an oracle decoded by generate_step"),
    "SPEEDUP_PREFILL_VARIANCE": Example(
        "prefill from 21.5 s to 146 s for equal prompts", "prefill from 20.1 s to 22.7 s for equal prompts"
    ),
    "ARMS_NOT_INTERLEAVED": Example("all runs of the oracle, then all of the arm", "oracle, arm, arm, oracle, ..."),
    "SPEEDUP_INTERVAL": Example("1.08x, interval 0.94x to 1.21x", "1.62x, interval 1.55x to 1.70x"),
    "NULL_RATIO_OFF": Example("an A/A ratio of 1.31x, interval 1.22x to 1.40x", "an A/A ratio of 1.00x"),
    "SPEEDUP_OVER_ACCEPTANCE": Example("3.1x with 2.0 tokens committed a block", "1.6x with 2.9 committed a block"),
    "SPEEDUP_VERIFY_FAST": Example(
        "blocks of 8 verified in 12 ms, a step of the oracle takes 60 ms",
        "blocks verified in 71 ms, a step takes 60 ms",
    ),
    "SPEEDUP_SAME_WORK": Example("a plain loop over the native cache, 1.8x", "the same loop, 0.94x"),
    "SPEEDUP_PREFILL_UNEQUAL": Example(
        "1.5x end to end, all of it from a prefill that is the oracle's own", "1.5x end to end, equal prefills"
    ),
    "SPEEDUP_NULL_BAND": Example("1.04x, the A/A band reaches 1.05x", "1.62x, the A/A band is 0.98x to 1.02x"),
    "SPEEDUP_ORDER": Example("1.9x when it runs first, 1.1x when second", "1.63x first, 1.61x second"),
    "SPEEDUP_DRIFT": Example(
        "the oracle slows by 40 %, the claim is 1.2x", "the oracle slows by 2 %, the claim is 1.6x"
    ),
    "SPEEDUP_WARMUP": Example("the first run takes 9 s, the others 3 s", "a recorded warm-up, then 3 s in every run"),
    # Recall
    "RECALL_SCOPE": Example(
        "recall by restoration over 5 rows, 3 of them restored", "recall by restoration, every row restored"
    ),
    "CONTROL_MISSING": Example("recall 5/5 by restoration, no other arm", "the same layers, nothing restored: 0/5"),
    "CONTROL_RECALL_HIGH": Example(
        "arm 5/5, control 5/5: the exact layers carry it; or 2/2 and 0/2, which luck explains", "arm 5/5, control 0/5"
    ),
    "ORACLE_RECALL_LOW": Example("the oracle itself recalls 2/5", "the oracle recalls 5/5"),
    "NEEDLE_CONTROL": Example("a code recalled from a haystack without it", "0/5 from haystacks without a needle"),
    "RECALL_SCORING": Example("counted as right: the prompt's echo", "counted as right: an answer that ends by itself"),
    "NEEDLE_EXPOSED": Example("a needle 40 tokens before the question, window 64", "a needle 300 tokens before it"),
    # Memory
    "KV_BYTES_ARITHMETIC": Example(
        "sink + window 68 of 620 positions, and the bytes of all 620", "the bytes of 68 positions in every layer"
    ),
    "KV_BYTES_VARY": Example("the oracle holds 29 MB, the oracle again 58 MB", "29 MB in both, to the byte"),
    "MEMORY_NOT_MEASURED": Example("89.8 % less by formula, no bytes recorded", "K/V bytes summed from the arrays"),
    "MEMORY_ANALYTIC_GAP": Example("133 MB by formula, 1,309 MB in the arrays", "133 MB by formula, 134 MB measured"),
    "MEMORY_PEAK_ROSE": Example("K/V 43.9 times smaller, the measured peak rose", "K/V smaller, and the peak fell too"),
    "MEMORY_CLAIM_MISMATCH": Example(
        "a saving of sink + window claimed for a run on the native cache", "a table of the cache that the run used"
    ),
    # Drafters and codecs
    "DRAFTS_VARY": Example("blocks of 7 drafts, and of 2 where 2 were accepted", "7 drafts in every block"),
    "PARITY_REQUIRED": Example(
        "1.6x with drafter weights that no parity report names", "a parity report of the weights"
    ),
    "PARITY_FAILED": Example("float32 against float32, 412 of 420 tokens agree", "420 of 420 tokens agree"),
    "KVQUANT_CONTROL": Example("the identity codec loses a stream", "the identity codec changes nothing"),
    "KVQUANT_ARITHMETIC": Example("an error of 0.002, the layers give 0.02", "an error of 0.02, as the layers give"),
    "KVQUANT_ORDER": Example("6 bits err by 0.0004, 8 bits by 0.004", "6 bits err by 0.0004, 8 bits by 0.00003"),
    "KVQUANT_RATE": Example("4.0 bits stated, 4.5 with scales and biases", "4.5 bits stated, 4.5 from the arrays"),
    "KVQUANT_VERDICT": Example(
        "worthwhile, though affine 4 errs less at as many bits", "worthwhile: fewer bits, less error, no less recall"
    ),
}
