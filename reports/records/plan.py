"""What was asked, in which order it was run, and when it was to stop."""

import json
from collections.abc import Sequence
from typing import Literal

from pydantic import AwareDatetime, Field

from reports.records.measurement import PromptSet
from reports.records.record import Count, Digest, Fraction, Name, Record, digest_of


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


class PlanInfo(Record):
    """How the run was planned and in which order it really went."""

    digest: Digest | None = Field(None, description="Of everything that decides what is run")
    samples: Count | None = None
    repeats: Count | None = Field(None, description="Of every sample, in each process")
    processes: Count | None = Field(None, description="Each loads the models anew and runs the whole plan; none: one")
    order: tuple[Run, ...] | None = Field(None, description="Timed runs as they really happened")
    order_seed: Count | None = Field(None, description="Of the random order; the planned one is derived from it again")
    warmups: tuple[Warmup, ...] | None = None
    max_new_tokens: Count | None = None
    prefill_chunk: Count | None = None
    stop: StopRules | None = None
    complete: bool | None = Field(None, description="Every planned run was measured")
    resumes: tuple[Resume, ...] = ()
