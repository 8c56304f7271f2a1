"""Components that should have run and did not: the system under test is really the baseline, or a part of it idled."""

from collections.abc import Iterator

from gate.figures.liveness import block_count, did_draft, did_restore, ran_natively
from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView, drafts, restores
from gate.rulebook.rule import Example, Finding
from gate.rulebook.thresholds import RESTORATION_S_PER_POSITION
from reports.records.measurement import NATIVE_BASELINE_LABEL, Arm, PromptSet


@evidence_rule(
    "BASELINE_AS_SUT",
    title="The baseline dressed as the system under test",
    catches=f"An arm under test none of whose rows restored or drafted, not labelled `{NATIVE_BASELINE_LABEL}`.",
    why="The run that started this gate measured the same native computation twice and called one of them the system.",
    fix=f"Make the engine do what the arm says, or label the arm `{NATIVE_BASELINE_LABEL}`.",
    example=Example(
        bad="an arm that neither restored nor drafted, presented as the system",
        good="the same arm, labelled native_ar_baseline",
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def baseline_as_sut(view: ReportView) -> Iterator[Finding]:
    """No row ran restoration or drafting, yet the arm is not labelled so."""
    for arm in view.under_test:
        if arm.system_under_test != NATIVE_BASELINE_LABEL and ran_natively(arm):
            label = arm.system_under_test or "none"
            yield Finding(
                f"{arm.name}: 0 of {len(arm.measurements)} rows restored or drafted, and the arm is labelled {label}; "
                f"a native baseline is labelled {NATIVE_BASELINE_LABEL}",
                arm=arm.name,
                field="system_under_test",
                found=label,
                allowed=NATIVE_BASELINE_LABEL,
            )


@evidence_rule(
    "LABEL_CONTRADICTED",
    title="An arm described as what its rows are not",
    catches=f"An arm labelled `{NATIVE_BASELINE_LABEL}` whose rows restored, evicted or drafted, one without a drafter "
    "whose rows have blocks, one whose decode loop is not that of its rows, an ablated arm that is no control, or one "
    "that is named after another role, mode or engine.",
    why="Rules ask what the description calls for: without a drafter no parity, with a baseline's label no control.",
    fix="Describe each arm as the engine that ran it; the runner does.",
    example=Example(bad="labelled native_ar_baseline, and its rows drafted", good="labelled for what its rows did"),
)
def label_contradicted(view: ReportView) -> Iterator[Finding]:
    """What an arm is called and what its rows did do not go together."""
    for arm in view.report.arms:
        native = arm.system_under_test == NATIVE_BASELINE_LABEL or (arm.role in ("oracle", "null"))
        did = {
            "restored": any(row.restored_positions for row in arm.measurements),
            "evicted": any(row.evicted_positions for row in arm.measurements),
            "drafted": any(block_count(row) for row in arm.measurements),
        }
        done = [name for name, happened in did.items() if happened]
        if native and done:
            label = arm.system_under_test or arm.role
            yield _contradicted(arm, "system_under_test", f"labelled {label}, its rows {' and '.join(done)}", label)
        if did["drafted"] and arm.drafter is None:
            yield _contradicted(arm, "drafter", "no drafter, and its rows have blocks", "none")
        others = {row.decode_loop for row in arm.measurements} - {arm.decode_loop, None}
        if arm.decode_loop is not None and others:
            message = f"decode loop {arm.decode_loop}, its rows were decoded with {', '.join(sorted(map(str, others)))}"
            yield _contradicted(arm, "decode_loop", message, arm.decode_loop)
        if not view.imported:
            yield from _misnamed(view, arm)


RESERVED = {"oracle": "oracle", "oracle_again": "null"}
"""Names that K3 gives to the arms of a role."""

MODES = ("identity", "f_theta", "ablate")


def _misnamed(view: ReportView, arm: Arm) -> Iterator[Finding]:
    """A headline names its arm, so the name must not promise what the arm is not."""
    mode = arm.restoration.mode if arm.restoration is not None else "none"
    if mode == "ablate" and arm.role != "control":
        yield _contradicted(arm, "role", f"restores nothing and is no control but of role {arm.role}", arm.role)
    roles: list[str] = [one.role for one in view.report.arms]
    free: PromptSet = "needle_free"
    if (arm.name == free) != (arm.prompt_set == free) and [one.prompt_set for one in view.report.arms].count(free) == 1:
        yield _contradicted(arm, "name", f"asked prompts of set {arm.prompt_set}; {free} is the control", arm.name)
    role = next((one for name, one in RESERVED.items() if (arm.name == name) != (arm.role == one)), None)
    if role is not None and roles.count(role) == 1:  # several of a role are another rule's business
        yield _contradicted(
            arm, "name", f"of role {arm.role}; `oracle` is the oracle, `oracle_again` its repeat", arm.name
        )
    spelt = "".join(filter(str.isalnum, arm.name.lower()))
    named = [one for one in MODES if one.replace("_", "") in spelt]
    borrowed = ("oracle" in spelt and arm.role not in ("oracle", "null")) or (
        "native" in spelt and arm.system_under_test != NATIVE_BASELINE_LABEL and arm.engine != "native-baseline"
    )
    lookup = "dflash" in spelt and arm.drafter is not None and "dflash" not in arm.drafter.name
    if (named and mode not in named) or ("fused" in spelt and not drafts(arm)) or lookup or borrowed:
        yield _contradicted(arm, "name", f"named so, of engine {arm.engine} and mode {mode}", arm.name)


def _contradicted(arm: Arm, field: str, message: str, found: str) -> Finding:
    return Finding(f"{arm.name}: {message}", arm.name, None, field, found, "what its rows say")


@evidence_rule(
    "FUSED_NEVER_RAN",
    title="A speculative arm without a block",
    catches="An arm of a drafting engine whose rows have 0 blocks in total.",
    why="Its accept length of 0 was printed beside a speed-up of 2.58.",
    fix="Find out why the engine fell back to plain decoding; it must raise instead.",
    example=Example(bad="a fused arm with 0 blocks over all its rows", good="a fused arm with 64 blocks"),
)
def fused_never_ran(view: ReportView) -> Iterator[Finding]:
    """A fused arm with 0 blocks in total."""
    for arm in view.report.arms:
        counts = [block_count(row) for row in arm.measurements]
        if drafts(arm) and counts and not any(count is None or count > 0 for count in counts):
            yield _idle(arm, "speculation.blocks", "blocks", "at least 1")


@evidence_rule(
    "PROPOSER_NEVER_RAN",
    title="Blocks without a draft",
    catches="An arm with blocks in which nothing was drafted, or whose drafter took no time.",
    why="64 blocks of size 1 are 64 plain steps; counted as blocks they make a dead drafter look alive.",
    fix="Load a drafter that proposes; a step without a proposal counts as a block with 0 drafted tokens.",
    example=Example(bad="64 blocks, 0 drafts", good="64 blocks, 448 drafts"),
)
def proposer_never_ran(view: ReportView) -> Iterator[Finding]:
    """Blocks were counted, but no token was proposed in any of them."""
    for arm in view.report.arms:
        said = [row.speculation for row in arm.measurements if row.speculation is not None]
        if not said or not any(block_count(row) for row in arm.measurements):
            continue
        if all(did_draft(row) is False for row in arm.measurements if row.speculation is not None):
            yield _idle(arm, "speculation.drafted", "drafted tokens", "at least 1")
        elif not view.imported:
            seconds = [one.draft_s for one in said if one.draft_s is not None]
            if len(seconds) == len(said) and sum(seconds) <= 0:
                yield _idle(arm, "speculation.draft_s", "seconds of drafting", "over 0")


@evidence_rule(
    "FTHETA_NOT_RUN",
    title="A restoring arm that restored nothing",
    catches="An arm of mode f_theta or identity none of whose rows restored a position, though it drafted or is "
    "labelled a native baseline.",
    why="Drafting is lossless whatever the cache is; it hides that the projection under test was never applied.",
    fix="Make the engine restore, or record the arm with mode none.",
    example=Example(
        bad="`f_theta` rows that restored nothing, or 5,000 tokens in 1 ms",
        good="rows that restored every evicted position",
    ),
    thresholds=(RESTORATION_S_PER_POSITION,),
)
def ftheta_not_run(view: ReportView) -> Iterator[Finding]:
    """Restoration is configured, and no row ran it (where nothing at all ran, BASELINE_AS_SUT says so)."""
    for arm in filter(restores, view.report.arms):
        if not arm.measurements or any(did_restore(arm, row) is not False for row in arm.measurements):
            continue
        labelled = arm.system_under_test == NATIVE_BASELINE_LABEL
        if labelled or arm.name not in view.names_under_test or not ran_natively(arm):
            yield _idle(arm, "restored_positions", "restored positions", "at least 1")


@evidence_rule(
    "EVICTION_NEVER_RAN",
    title="A bounded arm that dropped nothing",
    catches="An arm with sink + window of which a row evicted no position of a prompt longer than both.",
    why="A cache that keeps everything recalls everything: neither a control nor a restoration is tested by it.",
    fix="Bound the cache as the arm says, and count what is dropped.",
    example=Example(
        bad="sink + window 68, 620 tokens, 0 positions evicted",
        good="sink + window 68, 620 tokens, 552 evicted in each layer",
    ),
)
def eviction_never_ran(view: ReportView) -> Iterator[Finding]:
    """Nothing was evicted although the prompt is longer than sink + window."""
    for arm in view.report.arms:
        kept = arm.restoration
        if kept is None or kept.mode == "none":
            continue
        bound = (kept.sink or 0) + (kept.window or 0)
        for row in arm.measurements:
            if row.evicted_positions == 0 and (row.prompt_tokens or 0) > bound + 1:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: 0 positions were evicted from a prompt of "
                    f"{row.prompt_tokens} tokens with sink + window {bound}",
                    arm=arm.name,
                    sample=row.sample,
                    field="evicted_positions",
                    found="0",
                    allowed="over 0",
                )


@evidence_rule(
    "SILENT_FALLBACK",
    title="Something else ran under the arm's name",
    catches="A row that lists a fallback it took.",
    why="An engine that does something else under the same name is measured as what it is not.",
    fix="Make the engine raise where it cannot do what the arm says; measure the fallback as an arm of its own.",
    example=Example(bad="`fallbacks` names the plain loop", good="`fallbacks` is an empty list"),
)
def silent_fallback(view: ReportView) -> Iterator[Finding]:
    """A row took a fallback."""
    for arm in view.report.arms:
        for row in arm.measurements:
            if row.fallbacks:
                yield Finding(
                    f"{arm.name}, sample {row.sample}, repeat {row.repeat}: fell back ({', '.join(row.fallbacks[:3])})",
                    arm=arm.name,
                    sample=row.sample,
                    field="fallbacks",
                    found=str(len(row.fallbacks)),
                    allowed="0",
                )


def _idle(arm: Arm, field: str, what: str, allowed: str) -> Finding:
    return Finding(f"{arm.name}: 0 {what} in {len(arm.measurements)} rows", arm.name, None, field, "0", allowed)
