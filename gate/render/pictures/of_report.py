"""All pictures that a report has what they need for."""

from gate.judging.judged_file import JudgedFile
from gate.render.pictures.blocks import acceptance_picture, stages_picture
from gate.render.pictures.canvas import Picture
from gate.render.pictures.frontiers import codec_pictures, frontier_picture
from gate.render.pictures.ratios import ratio_picture
from gate.render.pictures.run_speed import speed_picture
from reports.report import Report


def pictures_of(report: Report, judged: JudgedFile) -> tuple[Picture, ...]:
    """The pictures in the order in which they are looked at. A ratio is drawn only if the gate admits it."""
    return (
        *ratio_picture(report, judged),
        *speed_picture(report),
        *stages_picture(report),
        *acceptance_picture(report),
        *frontier_picture(report),
        *codec_pictures(report),
    )
