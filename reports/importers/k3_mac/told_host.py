"""The host as the predecessor's smokes and test runs name it."""

from reports.importers.base import Foreign
from reports.records.provenance import Host
from reports.untrusted.one_line import one_line


class ToldHost(Foreign):
    """`host`."""

    platform: str | None = None
    machine: str | None = None
    python: str | None = None

    def record(self) -> Host:
        """The same, as a report has it."""
        return Host(
            os=one_line(self.platform or "unknown", 200),
            machine=one_line(self.machine or "unknown", 200),
            python=one_line(self.python, 200) if self.python else None,
        )
