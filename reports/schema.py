"""The JSON Schema of a report, for tools that do not run K3. `python -m reports.schema` rewrites the file."""

import json
from pathlib import Path
from typing import Any

from reports.atomic_file import write_atomically
from reports.file_form.form_schema import in_file_form
from reports.report import SCHEMA_VERSION, Report

SCHEMA_PATH = Path(__file__).with_name(f"report.v{SCHEMA_VERSION}.schema.json")


def report_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a report as it is written.

    Unlike the model it insists on `schema_version`, as a reader does. A reader also takes the form of old files.
    """
    schema = in_file_form(Report.model_json_schema())
    required = ["schema_version", *schema["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"required": required}


def schema_bytes() -> bytes:
    """The file form: sorted keys, one trailing newline."""
    return (json.dumps(report_schema(), indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def main() -> None:
    """Rewrite the committed schema."""
    write_atomically(schema_bytes(), SCHEMA_PATH)


if __name__ == "__main__":
    main()
