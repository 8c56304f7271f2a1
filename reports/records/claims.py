"""What a report asserts. A claim's value is a statement; the gate derives it again from the rows."""

from typing import Annotated, Literal

from pydantic import Field

from reports.records.record import Count, Fraction, Name, Record

Status = Literal["claimed", "admitted", "withheld"]
InDistribution = Literal["yes", "kind", "no", "unknown"]
"""Whether trained weights saw such text: the prompts' very templates or documents, others of their kind, no text of
that kind; or it cannot be told."""


class Interval(Record):
    """A 95 % interval and how it was made."""

    low: float
    high: float
    method: Literal["t", "bootstrap", "newcombe", "wilson", "stated"] = Field(
        description="t: of mean log ratios over groups and processes; bootstrap: of medians, before rule set 3"
    )


class BaseClaim(Record):
    """The fields every claim has.

    `claimed`: asserted and not yet judged (imports). `admitted`: asserted, the gate that wrote the file let it
    pass. `withheld`: not asserted; printed as WITHHELD with the codes in `withheld_by`.
    """

    name: Name = Field(description="Unique in the report: metric/arm, or metric/arm/baseline for arm_ratio")
    value: float
    arm: Name
    baseline: Name | None = None
    interval: Interval | None = None
    in_distribution: InDistribution | None = Field(
        None, description="Of the weights that the figure rests on; none where it rests on none that were trained"
    )
    status: Status
    withheld_by: tuple[Name, ...] = ()


class RatioClaim(BaseClaim):
    """A ratio of two rates, and what it stands on."""

    metric: Literal["decode_speedup", "e2e_speedup", "arm_ratio"]
    unit: Literal["x"] = "x"
    groups: Count | None = Field(None, description="Groups of prompts (templates, documents) that the interval is over")
    prompts: Count | None = Field(None, description="Distinct prompts in them")
    left_out: Count | None = Field(
        None, description="Prompts that the plain model answers in a loop, so that they say nothing of any arm"
    )
    processes: Count | None = None
    p: Fraction | None = Field(
        None, description="Chance of it without a difference, adjusted for all ratios of the report together (Holm)"
    )
    ratios: Count | None = Field(None, description="So many ratios the report holds, this one included")
    looks: Count | None = Field(
        None, description="The interval and `p` hold whichever of so many looks the run ended at; none: nobody looked"
    )
    end_to_end: float | None = Field(None, description="Of a decode-only ratio: the same with the prefill")
    ratio_of_totals: float | None = Field(None, description="All tokens over all seconds: what a user waits for")
    leave_one_out: tuple[float, float] | None = Field(
        None, description="Extremes of the ratio with one group of prompts left out"
    )


class SpeedupClaim(RatioClaim):
    """Throughput of `arm` over `baseline`, the oracle (below 1 is a slow-down)."""

    metric: Literal["decode_speedup", "e2e_speedup"]
    estimator: Literal["ratio_of_medians", "ratio_of_means", "ratio_of_totals", "median_of_ratios"] | None = Field(
        None, description="Imports: how the tool forms the ratio; K3's is the geometric mean of paired ratios"
    )


class ArmRatioClaim(RatioClaim):
    """Decode throughput of one arm over that of another: who ranks arms needs it."""

    metric: Literal["arm_ratio"]


class NullRatioClaim(BaseClaim):
    """The oracle against itself: the band in which this run cannot tell an effect from noise."""

    metric: Literal["null_ratio"]
    unit: Literal["x"] = "x"


class RecallClaim(BaseClaim):
    """Recall of an arm. `restoration_recall` asserts that restoration carried it; the others do not."""

    metric: Literal["oracle_recall", "native_baseline_recall", "restoration_recall", "arm_recall"]
    unit: Literal["fraction"] = "fraction"
    control: Name | None = Field(None, description="The ablated arm that makes the claim falsifiable")
    p_control: Fraction | None = Field(
        None, description="Chance of so many more prompts than the control if the arm is no better (exact McNemar)"
    )
    p_oracle: Fraction | None = Field(
        None, description="Chance of so many fewer prompts than the oracle if the arm is no worse (exact McNemar)"
    )


class LosslessClaim(BaseClaim):
    """Share of the arm's streams equal to the oracle's, token for token."""

    metric: Literal["token_identity"]
    unit: Literal["fraction"] = "fraction"


class MemoryClaim(BaseClaim):
    """K/V bytes saved against `baseline`, as a fraction; by formula or measured from the arrays."""

    metric: Literal["kv_saving"]
    unit: Literal["fraction"] = "fraction"
    basis: Literal["measured", "analytic"]


class AcceptanceClaim(BaseClaim):
    """Acceptance of a drafter: always three figures. `value` is accepted / drafted."""

    metric: Literal["acceptance"]
    unit: Literal["accepted/drafted"] = "accepted/drafted"
    committed_per_block: float | None = None
    by_position: tuple[Fraction, ...] | None = Field(None, description="Share accepted at each draft position")
    denominator: Literal["drafted", "output_tokens", "unknown"] = "drafted"


class ParityClaim(BaseClaim):
    """Share of drafted tokens on which two runtimes of one drafter agree."""

    metric: Literal["drafter_parity"]
    unit: Literal["fraction"] = "fraction"


class KvQuantClaim(BaseClaim):
    """A codec is (1) or is not (0) worth a native kernel: better than affine 4, worse, or not told apart from it."""

    metric: Literal["kv_codec_worthwhile"]
    unit: Literal["boolean"] = "boolean"
    samples: Count | None = None
    verdict: Literal["better", "worse", "undecided"] | None = Field(None, description="none: of before rule set 4")
    error_ratio: float | None = Field(
        None, description="Its error over affine 4's: the geometric mean over prompts; none where they are too few"
    )
    error_interval: tuple[float, float] | None = Field(None, description="95 %, Student's t over prompts")
    p: Fraction | None = Field(
        None, description="Chance of that ratio without a difference, adjusted for all codecs of the report (Holm)"
    )


class SmokeClaim(BaseClaim):
    """Share of the ten steps of a session smoke in which the server did what it must; `arm` is its engine."""

    metric: Literal["smoke_steps"]
    unit: Literal["fraction"] = "fraction"


class TestsClaim(BaseClaim):
    """Share of the cases of a test run that passed, of those that were run; `arm` is the suite."""

    __test__ = False  # pytest takes every class named so for a test

    metric: Literal["tests_passed"]
    unit: Literal["fraction"] = "fraction"


class ReplayClaim(BaseClaim):
    """Share of the drawn rows of another report that came out the same when they were run again; `arm` is its id.

    `runtime_parity` is the same on the other runtime: PyTorch for a report of MLX, or the other way round.
    """

    metric: Literal["rows_replayed", "runtime_parity"]
    unit: Literal["fraction"] = "fraction"
    drawn: Count | None = None
    rows: Count | None = Field(None, description="In the report that was drawn from")
    near_ties: Count | None = Field(None, description="Of the rows that count as the same: those that a tie explains")
    not_run: Count | None = Field(None, description="Drawn rows that could not run here; they count as not the same")
    false_at_most: Fraction | None = Field(
        None, description="Share of the report's rows that may be false, or otherwise, at 95 % (hypergeometric)"
    )


Claim = Annotated[
    SpeedupClaim
    | ArmRatioClaim
    | NullRatioClaim
    | RecallClaim
    | LosslessClaim
    | MemoryClaim
    | AcceptanceClaim
    | ParityClaim
    | KvQuantClaim
    | SmokeClaim
    | TestsClaim
    | ReplayClaim,
    Field(discriminator="metric"),
]
