"""What may be said of a run, in sentences that a person can quote: words and figures of admitted claims alone."""

from collections.abc import Iterator, Sequence

from gate.judging.judge import Headline
from gate.judging.judged_file import JudgedFile
from gate.render.headline import three_digits
from gate.rulebook.rule import REPLAY
from reports.records.claims import AcceptanceClaim, BaseClaim, RatioClaim, RecallClaim, ReplayClaim
from reports.untrusted.number_of import number_of
from reports.untrusted.one_line import one_line

LIMIT = 1000

_SHOWN = 6
"""Names in a list; the rest is counted."""

_OF_THEIR_OWN = ("acceptance", "arm_ratio")
"""Metrics told in sentences of their own: what they hold for says nothing of the arm's other figures."""

Told = dict[str, Headline]
"""The headlines about one arm, by metric; whatever recall it is, under `recall`."""


def sentences(file: JudgedFile) -> tuple[str, ...]:
    """What may be said: a sentence an arm, those about speed first; then arms beside each other, drafts, codecs."""
    arms: dict[str, Told] = {}
    for headline in file.headlines:
        told = "recall" if isinstance(headline.claim, RecallClaim) else headline.claim.name.partition("/")[0]
        if told in _OF_THEIR_OWN:
            continue
        arms.setdefault(headline.claim.arm, {})[told] = headline
    by_speed = sorted(arms.items(), key=lambda item: "decode_speedup" not in item[1])
    found = [_about(_subject(arm, told), told) for arm, told in by_speed]
    found += map(_arm_ratio, _of(file, "arm_ratio"))
    found += map(_acceptance, _of(file, "acceptance"))
    found += map(_parity, _of(file, "drafter_parity"))
    found += _codecs([one.claim.arm for one in _of(file, "kv_codec_worthwhile")])
    found += map(_smoke, _of(file, "smoke_steps"))
    found += map(_tests, _of(file, "tests_passed"))
    found += map(_replay, [one for metric in REPLAY for one in _of(file, metric)])
    return tuple(one_line(f"{text}.", LIMIT) for text in found if text)


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of many, the first ones and how many more."""
    shown = list(names) if len(names) <= _SHOWN else [*names[: _SHOWN - 1], f"{len(names) - _SHOWN + 1} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def _of(file: JudgedFile, metric: str) -> list[Headline]:
    return [one for one in file.headlines if one.claim.name.startswith(f"{metric}/")]


def _subject(arm: str, told: Told) -> str:
    recall = told.get("recall")
    metric = recall.claim.name.partition("/")[0] if recall is not None else ""
    return {"oracle_recall": "The plain model", "native_baseline_recall": f"{arm}, a native baseline,"}.get(metric, arm)


def _about(subject: str, told: Told) -> str:
    """The sentence of one arm; empty where no headline is about the arm by itself."""
    parts = [*_speed(told), *_recall(told), *_saving(told)]
    same = told.get("token_identity")
    if same is not None:
        parts.append(_identity(same, alone=not parts))
    if not parts:
        return ""
    basis = next((_basis(one.claim) for one in told.values() if isinstance(one.claim, RatioClaim)), "")
    text = next((one.text for one in told.values() if one.text), None)
    return ", ".join(part for part in (f"{subject} {parts[0]}", *parts[1:], basis) if part) + _holds_for(text)


def _holds_for(text: str | None) -> str:
    """What the figure holds for, seen from what weights were trained on; in brackets where that is not known."""
    if text is None:
        return ""
    return f" ({text.removeprefix('and ')})" if text.startswith("and ") else f", {text}"


def _speed(told: Told) -> Iterator[str]:
    decode, whole = told.get("decode_speedup"), told.get("e2e_speedup")
    if decode is not None:
        also = f", {_times(whole.claim)} from end to end {_interval(whole.claim)}" if whole is not None else ""
        yield f"was {_times(decode.claim)} as fast as the plain model in decoding {_interval(decode.claim)}{also}"
    elif whole is not None:
        yield f"was {_times(whole.claim)} as fast as the plain model from end to end {_interval(whole.claim)}"


def _recall(told: Told) -> Iterator[str]:
    found = told.get("recall")
    if found is None:
        return
    claim, how = found.claim, ""
    if isinstance(claim, RecallClaim) and claim.metric == "restoration_recall":
        how = f" from K/V that were dropped and put back (its control {claim.control} found fewer)"
    yield f"found {_share(found)} needles{_percents(claim)}{how}"


def _saving(told: Told) -> Iterator[str]:
    if (saved := told.get("kv_saving")) is not None:
        share = saved.claim.value
        than = f"{three_digits(100 * abs(share))} % {'less' if share >= 0 else 'more'} K/V than the plain model"
        yield f"{'and ' * ('recall' in told)}held {than}"


def _identity(same: Headline, *, alone: bool) -> str:
    if same.claim.value == 1 and not alone:
        return "token for token the same"
    return f"said token for token what the plain model says on {_share(same)} prompts"


def _arm_ratio(found: Headline) -> str:
    claim = found.claim
    ratio = f"{claim.arm} was {_times(claim)} as fast as {claim.baseline} in decoding {_interval(claim)}"
    basis = _basis(claim) if isinstance(claim, RatioClaim) else ""
    return ", ".join(part for part in (ratio, basis) if part) + _holds_for(found.text)


def _acceptance(found: Headline) -> str:
    claim = found.claim
    assert isinstance(claim, AcceptanceClaim)
    per_block = claim.committed_per_block
    block = f", and a block came to {three_digits(per_block)} tokens" if per_block is not None else ""
    accepted = f"Of the tokens that {claim.arm} drafted, {three_digits(100 * claim.value)} % were accepted{block}"
    return accepted + _holds_for(found.text)


def _parity(found: Headline) -> str:
    same = f"{_percent(found.claim.value)} % of the tokens are the same"
    return f"In {found.claim.arm} the drafter proposes what its reference proposes: {same}"


def _smoke(found: Headline) -> str:
    return f"A server of {found.claim.arm} did what the session protocol says in {_share(found)} steps"


def _tests(found: Headline) -> str:
    return f"Of the tests of {found.claim.arm}, {_share(found)} that were run passed"


def _replay(found: Headline) -> str:
    claim = found.claim
    assert isinstance(claim, ReplayClaim)
    unseen = f"{three_digits(100 * (claim.false_at_most or 0.0))} %"
    less = f" ({number_of(claim.not_run, 'row')} could not run here)" if claim.not_run else ""
    ties = f", {claim.near_ties} of them up to a numerical tie" if claim.near_ties else ""
    again, otherwise = "run again", "are false"
    if claim.metric == "runtime_parity":
        again, otherwise = "run again on the other runtime, MLX or PyTorch,", "would come out otherwise there"
    drawn = f"Of {claim.rows} rows of {claim.arm}, {claim.drawn} were {again} and {_share(found)} came out the same"
    return f"{drawn}{ties}{less}; at 95 %, at most {unseen} of its rows {otherwise}"


def _codecs(worth: Sequence[str]) -> Iterator[str]:
    if worth:
        are = "is" if len(worth) == 1 else "are"
        yield f"{listed(worth)} {are} worth a native kernel: no more bits than affine 4, less error, no less recall"


def _basis(claim: RatioClaim) -> str:
    if claim.prompts is None or claim.groups is None:
        return ""
    processes = f" in {number_of(claim.processes, 'process')}" if claim.processes else ""
    less = f" ({claim.left_out} more left out, where the plain model goes round in a circle)" if claim.left_out else ""
    return f"on {number_of(claim.prompts, 'prompt')} of {number_of(claim.groups, 'kind')}{less}{processes}"


def _times(claim: BaseClaim) -> str:
    return f"{three_digits(claim.value)} times"


def _interval(claim: BaseClaim) -> str:
    found = claim.interval
    return f"({three_digits(found.low)} to {three_digits(found.high)})" if found is not None else "(no interval)"


def _percents(claim: BaseClaim) -> str:
    found = claim.interval
    return f" ({100 * found.low:.0f} to {100 * found.high:.0f} %)" if found is not None else ""


def _share(found: Headline) -> str:
    if found.counted is None:
        return f"{_percent(found.claim.value)} % of the"
    return f"{found.counted.correct} of {found.counted.total}"


def _percent(value: float) -> str:
    """Three digits, and never rounded up to all of them."""
    return "100" if value == 1 else f"{min(100 * value, 99.9):.3g}"
