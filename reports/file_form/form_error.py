"""The one error of the file form."""


class FileFormError(ValueError):
    """A document that is no file form of anything; the message is one line that names the field."""
