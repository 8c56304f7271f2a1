"""What a report says of its plan in several places: arguments, overrides, warm-ups, resumption, the kind of prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gate.rulebook.registry import evidence_rule
from gate.rulebook.report_view import ReportView
from gate.rulebook.rule import Example, Fault, Finding
from reports.records.constants import KIND_OF_FORM, OWN, SHIPPED_FORMS, SYNTHETIC, template_of

if TYPE_CHECKING:
    from reports.records.plan import PlanInfo, WorkloadInfo
    from reports.report import Report

_OPTIONS = ("samples", "repeats", "processes", "seed", "max_new_tokens", "prefill_chunk")
"""Parameters that a command line may set and that the report records itself."""

_STOPPING = {"until_width": "width", "most_processes": "most", "budget_s": "budget_s"}
"""The same of a run to which processes are added, and where `plan.stopping` has them."""

_PLAIN = r"[0-9]{1,19}(\.[0-9]{1,19})?"

_FLAGS = {"budget_s": "--budget"}
"""Options that are not called as what they set."""


@evidence_rule(
    "PLAN_CONTRADICTED",
    title="A plan that the command line contradicts",
    catches="Arguments or overrides that ask for another preset, number of samples, repeats, processes, tokens or "
    "seed than the report records, or to stop by another width, or by one where no look is recorded; a value "
    "that the arguments set and no override names; a preset run beside another that the arguments do not "
    "name, or with overrides; warm-ups of an arm that is not there or twice, or in some processes only; a "
    "resumption after the last run; a prefill in chunks of nothing; a workload of another kind than the "
    "report, or prompts of other groups than its form has: none, of another kind, spelt as no template or "
    "document is, or of another template than the one whose turn it is.",
    why="The command line is what a reader repeats; where it asks for another run, that is the run he will get.",
    fix="Let the runner record what it was asked and what it did.",
    example=Example(bad="`samples=500` among the overrides, 5 samples planned", good="`samples=5`, 5 planned"),
)
def plan_contradicted(view: ReportView) -> Iterator[Finding]:
    """The same fact stands in two places, differently."""
    if view.imported:
        return
    for field, message, found, allowed in (*_asked(view.report), *_planned(view)):
        yield Finding(f"{field}: {message}", field=field, found=found[:80], allowed=allowed[:80])


def _asked(report: Report) -> Iterator[Fault]:
    plan, workload, preset = report.plan, report.workload, report.preset
    stopping = plan.stopping if plan is not None else None
    known: dict[str, float | None] = {name: getattr(plan, name, None) for name in _OPTIONS}
    known |= {name: getattr(stopping, field, None) for name, field in _STOPPING.items()}
    known["processes"] = plan.asked_processes if plan is not None else None
    known["seed"] = workload.seed if workload is not None else None
    argv = (report.provenance.argv if report.provenance is not None else None) or ()
    overrides = preset.overrides if preset is not None else ()
    part_of = preset.part_of if preset is not None else None
    stated = _settings(argv) if part_of is None else []  # of the run that it is part of
    for place, settings in (("preset.overrides", overrides), ("provenance.argv", stated)):
        for name, recorded in known.items():
            asked = [value for setting in settings if (value := _number(setting, name)) is not None]
            hidden = recorded is None and name == "until_width"
            if asked and recorded not in asked and (recorded is not None or hidden):
                message = f"asks for {name} {asked[-1]:g}, the run had {'no looks' if hidden else recorded}"
                yield Fault(place, message, f"{asked[-1]:g}", str(recorded))
    named_keys = {setting.partition("=")[0].strip() for setting in overrides}
    for setting in _set(argv) if part_of is None and "eval" in argv else ():
        key = setting.partition("=")[0].strip()
        if key not in named_keys:
            message = f"the arguments set {key[:60]!r}, which is none of the {len(overrides)} overrides"
            yield Fault("preset.overrides", message, "none", key)
    named = _value(argv, "--preset")
    wanted = part_of or (preset.name if preset is not None else None)
    own = named is not None and _is_file(named)  # its name stands in the file
    if wanted is not None and not own and named != wanted and (named is not None or part_of is not None):
        message = f"asks for preset {str(named)[:60]!r}, the report is of {wanted!r}"
        yield Fault("provenance.argv", message, str(named), wanted)
    if preset is not None and part_of == preset.name:
        yield Fault("preset.part_of", f"no preset is run beside itself: {part_of[:60]!r}", part_of, "another preset")
    if part_of is not None and overrides:
        message = f"a preset runs as it ships beside {part_of[:60]!r}, and this one with {len(overrides)} overrides"
        yield Fault("preset.overrides", message, overrides[0], "none")


def _number(setting: str, name: str) -> float | None:
    """The number that `key=value` gives to `name`."""
    key, _, value = setting.partition("=")
    plain = value.strip()
    return float(plain) if key.strip() == name and re.fullmatch(_PLAIN, plain) else None


def _settings(argv: Sequence[str]) -> list[str]:
    """`key=value` of every --set, and of options of the same names."""
    found = _set(argv)
    flags = {name: _FLAGS.get(name, f"--{name.replace('_', '-')}") for name in (*_OPTIONS, *_STOPPING)}
    options = ((name, _value(argv, flag)) for name, flag in flags.items())
    return [*found, *(f"{name}={value}" for name, value in options if value is not None)]


def _set(argv: Sequence[str]) -> list[str]:
    """What follows every --set."""
    apart = [one for at, flag in enumerate(argv) for one in argv[at + 1 : at + 2] if flag == "--set"]
    return [*apart, *(part.partition("=")[2] for part in argv if part.startswith("--set="))]


def _value(argv: Sequence[str], flag: str) -> str | None:
    """What follows the last `flag`, apart or after an equals sign."""
    found = None
    for at, part in enumerate(argv):
        if part == flag and at + 1 < len(argv):
            found = argv[at + 1]
        elif part.startswith(f"{flag}="):
            found = part.split("=", 1)[1]
    return found


def _is_file(preset: str) -> bool:
    return "/" in preset or preset.endswith(".toml")


def _planned(view: ReportView) -> Iterator[Fault]:
    plan, workload = view.report.plan, view.report.workload
    if workload is not None and view.report.kind in ("niah", "code") and workload.name != view.report.kind:
        yield Fault(
            "workload.name",
            f"prompts of {workload.name!r} in a {view.report.kind} report",
            workload.name,
            view.report.kind,
        )
    form = workload.form if workload is not None else None
    generated = workload is not None and form != OWN and (form is None or form in SHIPPED_FORMS)
    answered = {prompt.answer is not None for prompt in workload.prompts} if workload is not None else set()
    if view.report.kind in ("niah", "code") and generated and (view.report.kind != "niah") in answered:
        found = "no answer" if view.report.kind == "niah" else "an answer"
        yield Fault(
            "workload.prompts", f"{found} to a prompt of a {view.report.kind} report", found, "as its kind asks"
        )
    if workload is not None:
        yield from _groups(workload)
    if form is None and any(arm.warm_ups is not None for arm in view.report.arms):
        message = "is not recorded, in a report whose warm-ups are rows; those of before their time state warm-ups"
        yield Fault("workload.form", message, "none", "a form")
    made = view.report.created_at
    if made is not None and made.utcoffset():
        yield Fault("created_at", "is not in UTC", made.isoformat(), "UTC")
    if plan is None:
        return
    yield from _warmed(view, plan)
    runs = sum(len(arm.measurements) for arm in view.report.arms)
    places = [resume.order for resume in plan.resumes]
    late = bool(view.report.arms) and any(place > runs for place in places)  # codecs and parity count otherwise
    if places != sorted(places) or late:
        yield Fault(
            "plan.resumes", f"resumed at runs {places[:5]}, of {runs}", str(places[:5]), f"ascending, up to {runs}"
        )
    if plan.stop is not None and plan.stop.eos == plan.stop.ignore_turn_stop:
        both = str(plan.stop.eos).lower()
        yield Fault(
            "plan.stop", f"eos and ignore_turn_stop are both {both}; one excludes the other", both, "one of them"
        )
    if plan.prefill_chunk == 0:
        yield Fault("plan.prefill_chunk", "chunks of 0 tokens", "0", "at least 1")


def _groups(workload: WorkloadInfo) -> Iterator[Fault]:
    """Groups that the form of the workload does not have: an interval is over them, and they say what weights saw."""
    kind = KIND_OF_FORM.get(workload.form or "")
    if kind is None and workload.form is not None:  # a plug-in names its groups as it likes
        return
    for prompt_set in dict.fromkeys(prompt.prompt_set for prompt in workload.prompts):
        groups = [prompt.group for prompt in workload.prompts if prompt.prompt_set == prompt_set]
        unnamed = groups.count(None)
        if workload.form is None and unnamed < len(groups):
            message = f"prompts of set {prompt_set} know their groups, and what they are made of is not recorded"
            yield Fault("workload.form", message, "none", "a form")
        if unnamed and (kind is not None or unnamed < len(groups)):
            message = f"{unnamed} of {len(groups)} prompts of set {prompt_set} know no group"
            yield Fault("workload.prompts.group", message, "none", "a group of every prompt")
        documents = workload.texts.documents if workload.texts is not None else 0
        if kind == "stdlib" and len(set(groups)) > documents:
            message = f"prompts of {len(set(groups))} documents, of {documents} that there are"
            yield Fault("workload.texts.documents", message, str(len(set(groups))), f"at most {documents}")
        other = next((name for name in groups if name is not None and kind and not _is_of(kind, name)), None)
        if other is not None:
            message = f"{other[:60]!a} is no group of prompts of form {workload.form}"
            yield Fault("workload.prompts.group", message, ascii(other[:60]), f"{kind}/name")
    if kind == SYNTHETIC:
        yield from _templates(workload)


def _templates(workload: WorkloadInfo) -> Iterator[Fault]:
    """K3's own templates take turns, so that a prompt left out moves all that come after it."""
    for prompt in workload.prompts:
        made = template_of(workload.name, prompt.prompt_set, prompt.sample)
        if made is not None and prompt.group not in (None, made):
            where = f"sample {prompt.sample} of set {prompt.prompt_set}"
            message = f"{where} is of {str(prompt.group)[:60]!a}; it is made from {made}"
            yield Fault("workload.prompts.group", message, ascii(str(prompt.group)[:60]), made)
            return


def _is_of(kind: str, group: str) -> bool:
    """The name of a group of this kind; what a user calls a prompt of their own is theirs to spell."""
    return group.startswith(f"{OWN}/") if kind == OWN else re.fullmatch(rf"{kind}/[A-Za-z0-9_.]+", group) is not None


def _warmed(view: ReportView, plan: PlanInfo) -> Iterator[Fault]:
    """What the plan of old states of warm-ups, and the rows that they are now."""
    stated = [one.arm for one in plan.warmups or ()]
    for name in sorted(set(stated)) if view.report.arms else ():
        if name not in view.arms or stated.count(name) > 1:
            message = f"{name!r} was warmed up {stated.count(name)} times over, in a report with {len(view.arms)} arms"
            yield Fault("plan.warmups", message, name, "each arm once")
            break
    processes = plan.processes or 1
    for arm in view.report.arms:
        warm = {row.process for row in arm.warm_ups or ()}
        cold = sorted({row.process for row in arm.measurements} - warm) if arm.warm_ups is not None else []
        if cold:
            message = f"{arm.name} has rows in process {cold[0]}, and no warm-up there"
            yield Fault("warm_ups", message, "none", "one in each process")
        for row in arm.warm_ups or ():
            if row.order is not None or row.process >= processes:
                place = f"has place {row.order} among timed runs, in process {row.process} of {processes}"
                yield Fault("warm_ups", f"a warm-up of {arm.name} {place}", str(row.order), "no place, in a process")
                break
