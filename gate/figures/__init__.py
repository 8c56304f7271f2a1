"""Everything that is derived from rows. Pure functions on plain numbers; they judge nothing."""
