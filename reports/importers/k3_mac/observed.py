"""What the numbers of a foreign row prove about restoration, whatever its flag says."""

FASTEST_RESTORATION_TOKENS_PER_S = 1_000_000
"""No faster restoration is believed. Per token it projects features to keys and values of every restored layer, some
0.6 GFLOP for the 25 sliding layers of a 26B model, and writes 200 kB: a microsecond a token is beyond every machine
these files come from. So 1 ms for 5,000 tokens is a timer around nothing, as is a zero."""


def took_no_time(seconds: float, tokens: int | None) -> bool:
    """`seconds` are too few for work on `tokens` positions (unknown: only zero is)."""
    return seconds <= (tokens or 0) / FASTEST_RESTORATION_TOKENS_PER_S


def restoration_active(
    stated: bool | None,
    restoration_s: float | None,
    prompt_tokens: int | None,
    aux_s: float | None = 0.0,
    blocks: int | None = 0,
) -> bool | None:
    """Whether K/V were restored in a row: `False` is proved or admitted, `True` is stated and not disproved.

    Restoration cannot have run if building it and capturing for it took no time and no block ran. Without these
    numbers nothing is known, whatever is stated. An engine that neither captures nor drafts leaves `aux_s` and
    `blocks` at zero; `None` means that it should have recorded them.
    """
    if stated is False:
        return False
    if restoration_s is None or aux_s is None or blocks is None:
        return None
    if took_no_time(restoration_s, prompt_tokens) and took_no_time(aux_s, prompt_tokens) and blocks == 0:
        return False
    return stated
