"""Every error K3 raises on purpose. Each message is one line: what is wrong, where, and what to do."""


class K3Error(Exception):
    """Base of all errors shown to the user without a traceback; `exit_code` is what the process returns."""

    exit_code = 3


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or a polite kill, where something is to be said of it: what is kept, and how to go on."""


class UsageError(K3Error):
    """Wrong usage: an unknown name, a value of the wrong type or out of range."""

    exit_code = 64


class CannotRunError(K3Error):
    """The request is well-formed, but this machine cannot run it now."""


class ModelError(CannotRunError):
    """A model is missing, truncated, of the wrong digest, or not of a kind an engine can run."""


class EngineError(CannotRunError):
    """An engine cannot do what its arm says on this model; it never does something else instead."""


class OutputError(CannotRunError):
    """A report cannot be written: folder not writable, disk full, or a file that must not be overwritten."""


class StreamError(OutputError):
    """Standard output or standard error cannot be written."""


class ReaderGoneError(StreamError):
    """Whoever read stderr closed it: the command ends, and says nothing, since nobody is left to hear it."""
