"""Files that are no reports, or reports that were taken back."""
