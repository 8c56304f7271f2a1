"""What was asked, in which order it was run, and when it was to stop."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from reports.records.measurement import PromptSet
from reports.records.record import Count, Digest, Fraction, Name, Record, Seconds, digest_of

MOST_PROCESSES = 20
"""Of one run."""


class PresetInfo(Record):
    """The preset a run was started from."""

    name: Name
    digest: Digest = Field(description="Of the preset file's bytes")
    overrides: tuple[str, ...] = Field((), description="key=value, in the order given")
    part_of: Name | None = Field(None, description="The preset that it was run beside; the arguments are of that run")


def tokens_digest(tokens: Sequence[int]) -> str:
    """sha256 over token ids as decimal numbers joined by commas."""
    return digest_of(",".join(map(str, tokens)).encode())


class PromptRecord(Record):
    """One prompt, tokenised once and given to every arm that runs its set."""

    sample: Count
    prompt_set: PromptSet = "main"
    digest: Digest | None = Field(None, description="Of the token ids as decimal numbers joined by commas")
    token_count: Count | None = None
    answer: str | None = Field(None, description="The code to recall; of a needle-free prompt, its twin's")
    needle_depth: Fraction | None = Field(None, description="First needle token / token count")
    needle_first: Count | None = Field(None, description="First token position of the needle line")
    needle_last: Count | None = Field(None, description="Last token position of the needle line")
    question_first: Count | None = Field(
        None, description="First token position after the haystack; of a held-out text, the first one that is scored"
    )
    group: Name | None = Field(
        None, description="kind/name of the template or document it was made from; intervals are clustered by it"
    )
    question: Name | None = Field(None, description="Form of needle and question where the group is only the haystack")
    also_asked: tuple[str, ...] | None = Field(None, description="Further answers, all of them asked for")
    not_asked: tuple[str, ...] | None = Field(
        None, description="What other needles of the haystack tell: an answer that names one is a guess"
    )


class Texts(Record):
    """The texts that prompts were made from, so that those of another machine are told apart."""

    name: Name = Field(description="Whose they are, with the version; of own prompts the name of the file")
    documents: Count
    digest: Digest = Field(description="Of all their contents with their names; of own prompts that of the file")


class WorkloadInfo(Record):
    """What was asked."""

    name: Name
    form: Name | None = Field(None, description="What its prompts are made of: synthetic, stdlib, prose or own")
    texts: Texts | None = Field(None, description="Of real text; none where K3's own templates make all of it")
    generator_version: Count | None = None
    seed: Count | None = None
    digest: Digest | None = Field(None, description="Of all prompts with their answers and groups")
    prompt_style: Literal["chat", "completion"] | None = None
    prompts: tuple[PromptRecord, ...] = ()


def prompts_digest(prompts: Sequence[PromptRecord]) -> str:
    """sha256 over all prompts with their answers and groups, a line each, in their order."""
    return digest_of("\n".join(map(_line, prompts)).encode())


def _line(prompt: PromptRecord) -> str:
    if prompt.group is None:  # the form of reports from before prompts knew their group
        return f"{prompt.sample}|{prompt.prompt_set}|{prompt.digest}|{prompt.answer or ''}"
    answers = [prompt.answer, prompt.also_asked, prompt.not_asked]
    return json.dumps([prompt.sample, prompt.prompt_set, prompt.digest, *answers, prompt.group, prompt.question])


class Run(Record):
    """One timed run: an arm on a sample, once."""

    arm: Name
    sample: Count
    repeat: Count
    process: Count = Field(0, description="Each process loads the models anew and runs the whole plan once")


class Warmup(Record):
    """Reports of old: untimed runs of one arm before its first timed one, as stated. Now `Arm.warm_ups` are rows."""

    arm: Name
    runs: Count
    shapes: tuple[Count, ...] = Field(description="Sequence lengths of the forwards warmed up")


class StopRules(Record):
    """When a stream ends."""

    eos: bool
    ignore_turn_stop: bool


class Resume(Record):
    """The run was interrupted and went on from here."""

    order: Count = Field(description="Position in `order` of the first run after the interruption")
    at: AwareDatetime


Decision = Literal["go_on", "narrow", "prompts_differ", "budget", "no_more"]
"""What was decided at a look: another round; it is narrow enough; the prompts alone make it wider, however many
processes there are; another round would exceed the budget; no more processes were planned."""


class Look(Record):
    """One look at the intervals, after so many processes; all of it follows from the rows."""

    processes: Count
    width: float | None = Field(None, description="Of the widest interval, over its ratio; none while one is missing")
    least: float | None = Field(
        None, description="The same with no end of processes, of the same prompts; none where it cannot be told"
    )
    seconds: Seconds = Field(description="That runs took until then, warm-ups and paused ones too, loading left out")
    decision: Decision


class Stopping(Record):
    """Processes are added until the interval of every arm's decode ratio to the oracle is narrow.

    Looks come after twice as many processes each time, since an interval narrows with the square root of what was
    measured. Who looks again and again, and stops when he likes what he sees, needs a wider interval each time: of the
    5 % that it may be wrong, a look gets a share, and all looks together no more than 1 (alpha spending: Lan and DeMets
    1983). What is spent after some of the processes is the square of their part (the power family of Kim and DeMets
    1987), so that most of it is left for the last look: the first processes say little of what processes are worth, and
    a run that goes to its end pays little for having been looked at. The shares add up whatever the looks have in
    common, so the interval holds whichever look was the last. `scripts/method.py` simulates it.
    """

    width: float = Field(gt=0, description="Wanted: of the interval, over the ratio")
    first: int = Field(ge=1, le=MOST_PROCESSES, description="Processes before the first look")
    most: int = Field(ge=1, le=MOST_PROCESSES, description="Processes at the last look, if it comes to that")
    budget_s: float | None = Field(None, description="No round is begun that would take all runs beyond it")
    looks: tuple[Look, ...] = Field((), max_length=MOST_PROCESSES)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.most < self.first:
            raise ValueError(f"most: {self.most} processes, {self.first} come before the first look")
        return self

    @property
    def planned(self) -> tuple[int, ...]:
        """The numbers of processes after which it is looked at: `first`, doubled until `most`."""
        looks = []
        processes = self.first
        while processes < self.most:
            looks.append(processes)
            processes *= 2
        return (*looks, self.most)

    def share_at(self, processes: int) -> float:
        """What the look after so many processes may spend of the level; none is planned there: the least of any."""
        spent = [(one / self.most) ** 2 for one in (0, *self.planned)]
        shares = [after - before for before, after in pairwise(spent)]
        return dict(zip(self.planned, shares, strict=True)).get(processes, min(shares))


class PlanInfo(Record):
    """How the run was planned and in which order it really went."""

    digest: Digest | None = Field(None, description="Of everything that decides what is run")
    samples: Count | None = None
    repeats: Count | None = Field(None, description="Of every sample, in each process")
    processes: Count | None = Field(None, description="Each loads the models anew and runs the whole plan; none: one")
    stopping: Stopping | None = Field(None, description="Where processes were added as long as intervals were wide")
    order: tuple[Run, ...] | None = Field(None, description="Timed runs as they really happened")
    order_seed: Count | None = Field(None, description="Of the random order; the planned one is derived from it again")
    warmups: tuple[Warmup, ...] | None = None
    max_new_tokens: Count | None = None
    prefill_chunk: Count | None = None
    stop: StopRules | None = None
    complete: bool | None = Field(None, description="Every planned run was measured")
    resumes: tuple[Resume, ...] = ()

    @property
    def asked_processes(self) -> int | None:
        """As many as were asked for: with `stopping` those before the first look, to which others came."""
        return self.stopping.first if self.stopping is not None else self.processes
