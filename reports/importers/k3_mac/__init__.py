"""The predecessor's kinds of reports."""
