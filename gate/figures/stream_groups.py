"""Groups of prompts whose streams are nearly one stream: two prompts that were answered alike are no two samples.

Streams are compared by their shingles, the distinct runs of a few tokens in them. How alike two streams are is the
share of the shorter one's shingles that the other one has, too (containment; Broder, "On the resemblance and
containment of documents", 1997), so that a stream and its beginning are alike.
"""

from collections.abc import Mapping, Sequence

SHINGLE = 3
"""Tokens of a shingle. Files of one template had a third and more of those in common, of two templates 6 % at most."""

MAX_ALIKE = 0.3
"""Share of shingles that two streams may have in common before their prompts count as one group. In the committed code
reports prompts of one template share 0.32 to 1.0 of them, prompts of different ones up to 0.06."""

COMPARED_TOKENS = 256
"""Leading tokens of a stream that are compared."""

MOST_PROMPTS = 1000
"""As many as a preset may ask. What has more was not made by one, and is one group: pairs would take too long."""

Shingles = frozenset[tuple[int, ...]]


def merge_alike(groups: Mapping[int, str], streams: Mapping[int, Sequence[int]]) -> dict[int, str]:
    """The group of every prompt in `groups`, where groups with streams alike are one, named as the first of them.

    `streams` are token ids by prompt; a prompt without one, or with an empty one, is like no other. Groups are only
    ever joined: likeness is passed on from stream to stream, and from prompt to prompt of a group.
    """
    if len(groups) > MOST_PROMPTS:
        return dict.fromkeys(groups, min(groups.values()))
    owner = {name: name for name in groups.values()}
    seen = [(prompt, shingles(streams.get(prompt, ()))) for prompt in sorted(groups)]
    for place, (prompt, ours) in enumerate(seen):
        for other, theirs in seen[:place]:
            one, two = _root(owner, groups[prompt]), _root(owner, groups[other])
            if one != two and alike(ours, theirs) > MAX_ALIKE:
                owner[max(one, two)] = min(one, two)
    return {prompt: _root(owner, name) for prompt, name in groups.items()}


def shingles(stream: Sequence[int]) -> Shingles:
    """The distinct runs of `SHINGLE` tokens of a stream; of a shorter one the stream itself, of an empty one none."""
    tokens = tuple(stream[:COMPARED_TOKENS])
    if not tokens:
        return frozenset()
    return frozenset(tokens[start : start + SHINGLE] for start in range(max(1, len(tokens) - SHINGLE + 1)))


def alike(one: Shingles, other: Shingles) -> float:
    """Share of the smaller set that is in the larger; 0 where one is empty."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def _root(owner: dict[str, str], name: str) -> str:
    while owner[name] != name:
        owner[name] = owner[owner[name]]
        name = owner[name]
    return name
