"""About how long a run takes, told before it begins."""

from harness.plans.plan import Plan
from reports.untrusted.number_of import number_of

SECONDS_A_RUN = {
    ("k3-tiny", "code"): 0.4,
    ("k3-tiny", "niah"): 0.2,
    ("k3-tiny", "parity"): 0.5,
    ("k3-tiny", "kv_quant"): 0.15,
    ("smollm2-135m", "code"): 7.5,
    ("smollm2-135m", "niah"): 8.0,
    ("smollm2-135m", "parity"): 2.0,
    ("gemma3-270m", "code"): 8.0,
    ("gemma3-270m", "niah"): 6.0,
}
"""Of one prompt in one arm on two x86 cores, by model and kind of run: about the means of the committed evidence; those
of parity and of codecs from the processor time of one run each (recorded or not, parity took 29 s)."""

LOADING_S = 6.0
"""Of each process: Python, packages, weights."""

FETCHING_S_A_GB = 75.0
"""Of a model that comes as a package, to convert it and to compare it with its reference, the download left out."""

TWO_CORES = "on two x86 cores"
ITS_MACHINE = "on the machine that the preset is made for"


def about_minutes(plan: Plan) -> tuple[float, str] | None:
    """Minutes, and on which machine: what the preset says, else by its runs; none where nothing like it was timed."""
    preset = plan.preset
    if preset.minutes is not None:
        return preset.minutes, ITS_MACHINE
    each = SECONDS_A_RUN.get((preset.model, preset.kind))
    if each is None:
        return None
    arms = plan.planned()
    processes = getattr(preset, "processes", 1)
    runs = sum(arm.runs for arm in arms) + processes * len(arms)  # each process warms every arm up
    return (runs * each + processes * LOADING_S) / 60, TWO_CORES


def minutes_in_words(minutes: float) -> str:
    """`under a minute`, `about 1 minute`, `about 16 minutes`."""
    whole = round(minutes)
    return "under a minute" if minutes < 1 else f"about {number_of(whole, 'minute')}"
