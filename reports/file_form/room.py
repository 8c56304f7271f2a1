"""How much a file may unpack to: what it holds once must not become a report that no memory holds."""

from dataclasses import dataclass

from reports.file_form.form_error import FileFormError
from reports.untrusted.files import MAX_BYTES
from reports.untrusted.strict_json import MAX_VALUES


@dataclass
class Room:
    """Values and bytes that are left for rows made of columns and for copies of streams, as for a file without them."""

    values: int = MAX_VALUES
    size: int = MAX_BYTES

    def take(self, field: str, *, values: int, size: int = 0) -> None:
        """Room for so much more.

        Raises:
            FileFormError: there is none.
        """
        self.values -= values
        self.size -= size
        if self.values < 0 or self.size < 0:
            raise FileFormError(f"{field}: unpacks to more than {MAX_VALUES} values or {MAX_BYTES} bytes")
