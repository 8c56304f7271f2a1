"""Words and numbers that records, rules and runs share. They need no record, so whoever lists rules builds none."""

NATIVE_BASELINE_LABEL = "native_ar_baseline"
"""What an arm is presented as that neither restored nor drafted."""

OWN = "own"
"""Form of a workload, and kind of its groups, whose prompts a user's file holds."""

SYNTHETIC = "synthetic"
"""Form of a workload, and kind of its groups, that K3's own templates make."""

KIND_OF_FORM = {SYNTHETIC: SYNTHETIC, "stdlib": "stdlib", "prose": "stdlib", OWN: OWN}
"""What prompts are made of where no plug-in makes them, and the kind of their groups: prose is cut from docstrings of
the standard library. Reports of old name no form."""

SHIPPED_FORMS = tuple(KIND_OF_FORM)

CODE_TEMPLATES = ("python_tests", "javascript_handlers", "sql_rows", "python_properties", "c_switch", "go_getters")
"""K3's own templates of code, in their order: sample 6 is made from the first one again."""

NOTES, PARAGRAPHS = "notes", "paragraphs"
"""What synthetic haystacks are made of, and texts on which logits are compared."""

FIXED_SETTINGS = ("name", "title", "kind", "role", "engine")
"""Fields that make a preset or an arm the one it is; no override sets them, with another value it is another preset."""

LEAST_PAUSE_S = 0.1
"""Less sleep is the moment between two readings of clocks; no machine sleeps so briefly."""

SMOKE_STEPS = {
    "create": "OK",
    "append": "OK",
    "generate": "OK",
    "generate_to_stop": "OK",
    "generate_before_append": "INVALID_ARGUMENT",
    "generate_nothing": "INVALID_ARGUMENT",
    "generate_sampled": "INVALID_ARGUMENT",
    "unknown_session": "NOT_FOUND",
    "generate_truncated": "OK",
    "no_generator": "UNIMPLEMENTED",
}
"""The ten steps of a smoke of the session protocol, in order, and the status each must end with."""

UNTIMED_KINDS = ("runtime_smoke", "platform_tests", "replay")
"""Kinds of reports that show how something behaves: they time no arm, ask no workload and plan no rows."""


def template_of(workload: str, prompt_set: str, sample: int) -> str | None:
    """The group of a synthetic prompt, by the workload's name; none of a workload that does not ship."""
    if workload == "code":
        name = CODE_TEMPLATES[sample % len(CODE_TEMPLATES)]
    elif workload in ("niah", "kv_quant"):
        name = PARAGRAPHS if prompt_set == "held_out" else NOTES
    else:
        return None
    return f"{SYNTHETIC}/{name}"
