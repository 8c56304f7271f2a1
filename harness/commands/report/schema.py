"""`k3 report schema`: what a report may hold."""

import sys


def command() -> None:
    """Print the JSON Schema of a report."""
    from reports.schema import schema_bytes

    sys.stdout.write(schema_bytes().decode())
