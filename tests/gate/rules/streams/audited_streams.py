"""The audit of an arm's first stream, edited, for the rules of streams."""

from tests.gate.edits import edit_arm
from tests.gate.honest import Setup, measured_code, measured_niah

CODE = measured_code(Setup(samples=2, repeats=2, max_new_tokens=12, draft_arms=("ngram",)))


NIAH = measured_niah(Setup(samples=2, repeats=1))


def audited(report, arm, *misses):
    """The audit of the arm's first row, with these mismatches."""

    def edit(one):
        first = one.stream_audit.streams[0].replace(mismatches=misses)
        others = tuple(s for s in one.stream_audit.streams if (s.sample, s.repeat) != (0, 0))
        return one.replace(stream_audit=one.stream_audit.replace(streams=(first, *others)))

    return edit_arm(report, arm, edit)
