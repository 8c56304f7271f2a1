"""What each kind of claim asserts and how its figure is made, declared once for `k3 gate explain` and the documents."""

from dataclasses import dataclass

_RATIO = (
    "Each row over the other arm's row of the same sample, repeat and process; the median over a prompt's repeats; "
    "then the geometric mean over groups of prompts (templates, documents; those that the plain model answers alike "
    "are one) and over processes. The 95 % interval is Student's t over groups and processes, which both vary at "
    "random."
)
_LEFT_OUT = (
    "Beside it stand the ratio of all tokens over all seconds, the extremes with one group left out, and the chance of "
    "such a ratio without a difference, adjusted for all ratios of the report (Holm)."
)
_SHARE = "Distinct prompts that every repeat recalled, over all distinct prompts; the 95 % interval is Wilson's."
_TO_ORACLE = (
    "Beside it stands `p_oracle`, the chance of so many prompts fewer than the oracle if the arm is no worse (exact "
    "McNemar)."
)


@dataclass(frozen=True)
class ClaimKind:
    """One kind of claim; `metric` is the first part of a claim's name, before the arm."""

    metric: str
    title: str
    asserts: str
    computed: str


_DECLARED = (
    ClaimKind(
        "decode_speedup",
        "Decode speed-up",
        "How many times as many tokens a second the arm decodes as the oracle, prefill left out; under 1 it is slower.",
        f"Tokens after the first one over decode seconds. {_RATIO} {_LEFT_OUT}",
    ),
    ClaimKind(
        "e2e_speedup",
        "Speed-up from end to end",
        "How many times as many tokens a second the arm emits as the oracle, prefill and restoration included.",
        f"All tokens emitted over the seconds from prompt to last token. {_RATIO} {_LEFT_OUT}",
    ),
    ClaimKind(
        "arm_ratio",
        "One arm against another",
        "How many times as many tokens a second the first arm decodes as the second. Who says that one arm is faster "
        "than another needs this claim, not two ratios to the oracle.",
        f"Tokens after the first one over decode seconds. {_RATIO} {_LEFT_OUT}",
    ),
    ClaimKind(
        "null_ratio",
        "A/A ratio",
        "The oracle against itself, run again among the others under another name. Nothing differs between the two, so "
        "the interval is the noise of this run: an effect counts only outside that band. It is no speed-up.",
        f"The decode rate of `oracle_again` over that of `oracle`. {_RATIO}",
    ),
    ClaimKind(
        "oracle_recall",
        "Recall of the plain model",
        "The share of needles that the verifier alone finds, over its own cache: what the workload lets an arm reach.",
        _SHARE,
    ),
    ClaimKind(
        "native_baseline_recall",
        "Recall of a native baseline",
        "The recall of an arm that neither restored nor drafted and is labelled so. It says nothing about a system.",
        f"{_SHARE} {_TO_ORACLE}",
    ),
    ClaimKind(
        "restoration_recall",
        "Recall carried by restoration",
        "The share of needles found from K/V that were evicted and put back, beside a control that evicts the same, "
        "restores nothing and must fail.",
        f"{_SHARE} The control counts a prompt that any of its repeats recalled. Beside it stand two exact McNemar "
        "tests on the same prompts: `p_control`, the chance of so many more than the control if the arm is no better, "
        "and `p_oracle`, the chance of so many fewer than the oracle if it is no worse.",
    ),
    ClaimKind(
        "arm_recall",
        "Recall of an arm",
        "The share of needles that the arm finds, whatever carried it.",
        f"{_SHARE} {_TO_ORACLE}",
    ),
    ClaimKind(
        "token_identity",
        "The oracle's own tokens",
        "The share of prompts that the arm continues as the oracle does, token for token.",
        "Distinct prompts whose every repeat has the token ids of the oracle's row of the same sample and repeat; the "
        "95 % interval is Wilson's.",
    ),
    ClaimKind(
        "kv_saving",
        "K/V bytes saved",
        "The share of the oracle's K/V bytes that the arm does not hold.",
        "1 - bytes of the arm over bytes of the oracle's row of the same sample and repeat, the median over the rows; "
        "the bytes of a row are the most it held at the end of prefill or of decode, summed from the arrays.",
    ),
    ClaimKind(
        "acceptance",
        "Acceptance of drafts",
        "The share of the drafted tokens that the verifier accepted; never of the tokens emitted.",
        "Accepted over drafted, all blocks of all rows together; beside it tokens committed a block, and the share "
        "accepted at each position among the blocks that drafted so far.",
    ),
    ClaimKind(
        "drafter_parity",
        "Parity of a drafter's runtimes",
        "The share of tokens on which two runtimes propose the same after the same contexts. It lets the drafter's "
        "throughput be claimed.",
        "Equal tokens over compared tokens; where one runtime proposed fewer, the missing ones differ.",
    ),
    ClaimKind(
        "kv_codec_worthwhile",
        "A codec worth a native kernel",
        "1 if the codec is worth a kernel of its own: better than affine 4. 0 if it is worse, or cannot be told apart.",
        "Better: at no more bits a value than affine 4, scales and biases included, it errs less and loses no answer "
        "on balance. Worse: more bits, more error, or answers lost (exact McNemar). The error is the geometric mean "
        "over prompts of its error over affine 4's, with Student's t; that it is less or more is shown over all codecs "
        "of the report together (Holm).",
    ),
    ClaimKind(
        "smoke_steps",
        "Steps of a session smoke",
        "The share of the ten steps in which a server did what the session protocol says.",
        "Steps that are there once, ended with the status they must and sent the frames that they ask for, over ten.",
    ),
    ClaimKind(
        "tests_passed",
        "Tests that passed",
        "The share of the cases of a test run that passed, on the host and code that the report names.",
        "Cases that passed over cases that were run; skipped ones are in neither.",
    ),
    ClaimKind(
        "rows_replayed",
        "Rows that came out the same",
        "The share of rows, drawn at random from another report, that came out the same when somebody ran them again.",
        "Rows of which every recorded token, count, byte and error is the same, or whose stream parted at a numerical "
        "tie on another machine, over all rows drawn. Beside it stands the share of the report's rows that may still "
        "be false at 95 %: exact (hypergeometric), over the random sample alone, a row that could not run counted as "
        "false. Times are no part of it.",
    ),
    ClaimKind(
        "runtime_parity",
        "Rows that came out the same on the other runtime",
        "The share of rows, drawn at random from a report of MLX, that came out the same on PyTorch; or the other way "
        "round.",
        "As of rows that came out the same, but that a row which did not says nothing against the report. Bytes of "
        "caches, and what each runtime calls its loops and drafters, are no part of it.",
    ),
)
CLAIM_KINDS: dict[str, ClaimKind] = {kind.metric: kind for kind in _DECLARED}
"""Every kind of claim by its metric, in the order they are told."""


def kind_of_claim(name: str) -> ClaimKind | None:
    """The kind of a claim, by its metric or by its name as it is printed (metric/arm)."""
    return CLAIM_KINDS.get(name.strip().lower().partition("/")[0])
