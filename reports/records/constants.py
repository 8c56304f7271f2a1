"""Words and numbers that records, rules and runs share. They need no record, so whoever lists rules builds none."""

NATIVE_BASELINE_LABEL = "native_ar_baseline"
"""What an arm is presented as that neither restored nor drafted."""

OWN = "own"
"""Form of a workload, and kind of its groups, whose prompts a user's file holds."""

LEAST_PAUSE_S = 0.1
"""Less sleep is the moment between two readings of clocks; no machine sleeps so briefly."""
