"""What a report is called on a page."""

import tomllib

from harness.plans.preset_file import preset_names, read_preset
from reports.records.record import digest_of
from reports.report import Report


def title_of(report: Report) -> str:
    """The title of the shipped preset that it was run from; of another one, or of none, the name."""
    preset = report.preset
    if preset is None:
        return report.report_id
    if preset.name not in preset_names():
        return preset.name
    data = read_preset(preset.name)
    title = str(tomllib.loads(data.decode())["title"])
    return title if digest_of(data) == preset.digest and not preset.overrides else f"{title} (changed)"
