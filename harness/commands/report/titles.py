"""What a report is called on a page."""

import tomllib

from harness.plans.preset_file import preset_names, read_preset
from reports.records.record import digest_of
from reports.report import Report


def title_of(report: Report) -> str:
    """The title of the shipped preset that it was run from as it stands; else the name, and that it was changed.

    A title names a model: it is not true of a preset that was run on another one.
    """
    preset = report.preset
    if preset is None:
        return report.report_id
    if preset.name not in preset_names():
        return preset.name
    data = read_preset(preset.name)
    if digest_of(data) == preset.digest and not preset.overrides:
        return str(tomllib.loads(data.decode())["title"])
    return f"{preset.name}, changed" if preset.overrides else f"{preset.name}, as another version of K3 has it"
