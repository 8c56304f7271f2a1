"""Arms swapped, promoted, renamed or removed."""

import random

from reports.records.measurement import Arm, Measurement
from reports.report import Report
from tests.gate.doctoring.doctoring import doctoring
from tests.gate.doctoring.pick import ablated, any_arm, of_role, restoring, under_test
from tests.gate.doctoring.reshape import ordered, runs_in_order, set_arm
from tests.gate.edits import edit_rows


def without(report: Report, name: str) -> Report:
    """`report` without an arm, as if it had never been planned."""
    order = [run for run in runs_in_order(report) if run.arm != name]
    report = ordered(report.replace(arms=tuple(arm for arm in report.arms if arm.name != name)), order)
    if report.plan is not None and report.plan.warmups is not None:
        warmups = tuple(one for one in report.plan.warmups if one.arm != name)
        report = report.replace(plan=report.plan.replace(warmups=warmups))
    if report.memory is not None:
        tables = tuple(table for table in report.memory.arms if table.arm != name)
        report = report.replace(memory=report.memory.replace(arms=tables) if tables else None)
    return report


def renamed(report: Report, old: str, new: str) -> Report:
    """`report` with an arm of another name, in order, warm-ups, memory and claims too."""
    names = {old: new}

    def of(name: str | None) -> str | None:
        return names.get(name, name) if name is not None else None

    order = [run.replace(arm=of(run.arm)) for run in runs_in_order(report)]
    report = report.replace(
        arms=tuple(arm.replace(name=of(arm.name)) for arm in report.arms),
        claims=tuple(
            claim.replace(
                arm=of(claim.arm),
                baseline=of(claim.baseline),
                name=f"{claim.metric}/{of(claim.arm)}",
                **({"control": of(claim.control)} if hasattr(claim, "control") else {}),
            )
            for claim in report.claims
        ),
    )
    if report.memory is not None:
        tables = tuple(table.replace(arm=of(table.arm)) for table in report.memory.arms)
        report = report.replace(memory=report.memory.replace(arms=tables))
    if report.plan is not None and report.plan.warmups is not None:
        warmups = tuple(one.replace(arm=of(one.arm)) for one in report.plan.warmups)
        report = report.replace(plan=report.plan.replace(warmups=warmups))
    return ordered(report, order)


@doctoring()
def swap_arm_names(report: Report, rng: random.Random) -> Report | None:
    """Oracle and an arm under test trade their names, and nothing else."""
    oracle, name = of_role(report, "oracle"), under_test(report, rng)
    if oracle is None or name is None:
        return None
    traded = {oracle.name: name, name: oracle.name}
    return report.replace(arms=tuple(arm.replace(name=traded.get(arm.name, arm.name)) for arm in report.arms))


@doctoring()
def swap_roles(report: Report, rng: random.Random) -> Report | None:
    """Oracle and an arm under test trade their roles."""
    oracle, name = of_role(report, "oracle"), under_test(report, rng)
    if oracle is None or name is None:
        return None
    return set_arm(set_arm(report, oracle.name, role="sut"), name, role="oracle")


@doctoring()
def swap_rows(report: Report, rng: random.Random) -> Report | None:
    """Oracle and an arm under test trade the times of their rows."""
    oracle, name = of_role(report, "oracle"), under_test(report, rng)
    if oracle is None or name is None:
        return None
    arm = next(arm for arm in report.arms if arm.name == name)
    rows = {(arm.name, row.sample, row.repeat): row for arm in (oracle, arm) for row in arm.measurements}

    def edit(other: str, row: Measurement) -> Measurement:
        source = rows[other, row.sample, row.repeat]
        return row.replace(decode_s=source.decode_s, prefill_s=source.prefill_s, e2e_s=source.e2e_s)

    report = edit_rows(report, oracle.name, lambda row: edit(name, row))
    return edit_rows(report, name, lambda row: edit(oracle.name, row))


@doctoring()
def swap_whole_arms(report: Report, rng: random.Random) -> Report | None:
    """Oracle and a plain arm trade everything but rows and names: engine, loop, label and role."""
    oracle = of_role(report, "oracle")
    arm = next((arm for arm in report.arms if arm.name == "native"), None)
    if oracle is None or arm is None:
        return None
    fields = ("role", "engine", "system_under_test", "decode_loop")
    ours, theirs = ({field: getattr(one, field) for field in fields} for one in (oracle, arm))
    report = set_arm(set_arm(report, oracle.name, **theirs), arm.name, **ours)
    loops = oracle.decode_loop, arm.decode_loop
    report = edit_rows(report, oracle.name, lambda row: row.replace(decode_loop=loops[1]))
    return edit_rows(report, arm.name, lambda row: row.replace(decode_loop=loops[0]))


@doctoring()
def promote_null(report: Report, rng: random.Random) -> Report | None:
    """The oracle run again is presented as a system of its own."""
    null = of_role(report, "null")
    if null is None:
        return None
    return set_arm(report, null.name, role="sut", system_under_test="k3 turbo")


@doctoring()
def promote_control(report: Report, rng: random.Random) -> Report | None:
    """The ablated control is presented as a system under test."""
    control = ablated(report)
    if control is None:
        return None
    return set_arm(report, control.name, role=rng.choice(("sut", "peer")))


@doctoring()
def remove_control(report: Report, rng: random.Random) -> Report | None:
    """The ablated control goes, with order and memory to match."""
    control = ablated(report)
    return without(report, control.name) if control is not None else None


@doctoring()
def remove_needle_free(report: Report, rng: random.Random) -> Report | None:
    """The needle-free control goes, with order to match."""
    return without(report, "needle_free") if any(arm.name == "needle_free" for arm in report.arms) else None


@doctoring()
def remove_null(report: Report, rng: random.Random) -> Report | None:
    """The null arm goes, with order to match."""
    null = of_role(report, "null")
    return without(report, null.name) if null is not None else None


@doctoring()
def remove_oracle(report: Report, rng: random.Random) -> Report | None:
    """The oracle goes, with order to match; another arm takes its role."""
    oracle, null = of_role(report, "oracle"), of_role(report, "null")
    if oracle is None or null is None:
        return None
    return set_arm(without(report, oracle.name), null.name, role="oracle")


@doctoring()
def empty_an_arm(report: Report, rng: random.Random) -> Report | None:
    """An arm keeps its name and loses its rows."""
    name = any_arm(report, rng)
    if name is None:
        return None
    report = set_arm(report, name, measurements=(), stream_audit=None)
    return ordered(report, [run for run in runs_in_order(report) if run.arm != name])


@doctoring()
def second_oracle(report: Report, rng: random.Random) -> Report | None:
    """A slower arm is an oracle too."""
    name = any_arm(report, rng, "sut", "peer", "null", "control")
    return set_arm(report, name, role="oracle") if name is not None else None


@doctoring()
def slower_oracle_first(report: Report, rng: random.Random) -> Report | None:
    """Oracle and null arm trade their places, where the null arm was slower."""
    oracle, null = of_role(report, "oracle"), of_role(report, "null")
    if oracle is None or null is None:
        return None
    return set_arm(set_arm(report, oracle.name, role="null"), null.name, role="oracle")


@doctoring()
def rename_arm(report: Report, rng: random.Random) -> Report | None:
    """An arm gets the name of another mode or engine, everywhere."""
    name = under_test(report, rng)
    if name is None:
        return None
    taken = {arm.name for arm in report.arms}
    free = [new for new in ("f_theta", "identity", "ablate_layers", "fused_dflash", "oracle") if new not in taken]
    return renamed(report, name, rng.choice(free))


@doctoring()
def lend_control_name(report: Report, rng: random.Random) -> Report | None:
    """The control is called the restoring arm and the other way round, everywhere."""
    control, name = ablated(report), restoring(report, rng)
    if control is None or name is None:
        return None
    report = renamed(report, control.name, "between")
    return renamed(renamed(report, name, control.name), "between", name)


@doctoring()
def null_as_needle_free(report: Report, rng: random.Random) -> Report | None:
    """The needle-free control is moved to the prompts with needles."""
    arm = next((arm for arm in report.arms if arm.prompt_set == "needle_free"), None)
    return set_arm(report, arm.name, prompt_set="main") if isinstance(arm, Arm) else None
