"""Code reports, and an edit of them, for the rules of speed."""

from reports.report import Report
from tests.gate.edits import edit_rows
from tests.gate.honest import Setup, measured_code

CODE = measured_code(Setup(samples=5, repeats=3, max_new_tokens=24, draft_arms=("ngram", "native"), ngram_speedup=1.2))


def code(**changes: object) -> Report:
    """Oracle, prompt lookup and a native loop; five prompts once."""
    setup = {"samples": 5, "repeats": 1, "max_new_tokens": 40, "draft_arms": ("ngram", "native")}
    return measured_code(Setup(**(setup | changes)))  # type: ignore[arg-type]


def quiet(**changes: object) -> Report:
    """A native loop at 1 / 1.1 of the oracle, on a machine without noise."""
    setup = {"samples": 5, "repeats": 3, "max_new_tokens": 40, "draft_arms": ("native",), "noise": 1e-6}
    return measured_code(Setup(**(setup | changes)))  # type: ignore[arg-type]


def slower(report, name, factor):
    def edit(row):
        more = row.decode_s * (factor - 1)
        return row.replace(decode_s=row.decode_s + more, e2e_s=row.e2e_s + more)

    return edit_rows(report, name, edit)
