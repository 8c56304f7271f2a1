"""Whatever a library raises over a stranger's file, told in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from harness.base.errors import K3Error, ModelError
from reports.untrusted.one_line import one_line


@contextmanager
def told_in_one_line(subject: str, remedy: str) -> Iterator[None]:
    """Turn what is raised within into one line: `subject`, the reason, `remedy`.

    Only calls into a library belong within: a fault of our own is a bug and must show as one.

    Raises:
        ModelError: the library raised something, or panicked, which Rust's bindings tell past `Exception`.
    """
    try:
        yield
    except K3Error:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ModelError(f"{subject}: {reason_of(error)}: {remedy}") from error


def reason_of(error: BaseException) -> str:
    """The kind of an error and the first line of what it says."""
    lines = str(error).strip().splitlines()
    kind = type(error).__name__
    said = one_line(lines[0], 200).rstrip(".:") if lines else ""
    if not said or said == kind:
        return kind
    return said if kind in ("Exception", "ValueError", "OSError", "RuntimeError") else f"{kind}: {said}"
