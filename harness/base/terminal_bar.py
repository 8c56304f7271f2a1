"""A bar of progress on a terminal: its figures stay whole, and what is going on is cut where there is no room for it.

Imported where a bar is drawn, since rich takes its time.
"""

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

WHOLE = Column(no_wrap=True)
"""The place of a figure, which is never cut before the text is."""

BAR_COLUMNS = 12


class TerminalBar(Progress):
    """Spinner, bar, `figures`, and then what is going on; gone when it ends."""

    def __init__(self, *figures: ProgressColumn, console: Console | None = None) -> None:
        text = _Cut("{task.description}", markup=False, table_column=Column())
        columns = (SpinnerColumn(table_column=WHOLE), BarColumn(BAR_COLUMNS, table_column=WHOLE), *figures, text)
        super().__init__(*columns, console=console or Console(stderr=True), transient=True)


class _Cut(TextColumn):
    """A text that gives way to the figures."""

    def render(self, task: Task) -> Text:
        """One line, with an ellipsis where it is cut."""
        text = super().render(task)
        text.no_wrap, text.overflow = True, "ellipsis"
        return text
