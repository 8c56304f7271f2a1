"""Words and numbers that records, rules and runs share. They need no record, so whoever lists rules builds none."""

NATIVE_BASELINE_LABEL = "native_ar_baseline"
"""What an arm is presented as that neither restored nor drafted."""

OWN = "own"
"""Form of a workload, and kind of its groups, whose prompts a user's file holds."""

KIND_OF_FORM = {"synthetic": "synthetic", "stdlib": "stdlib", "prose": "stdlib", OWN: OWN}
"""What prompts are made of where no plug-in makes them, and the kind of their groups: prose is cut from docstrings of
the standard library. Reports of old name no form."""

SHIPPED_FORMS = tuple(KIND_OF_FORM)

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
