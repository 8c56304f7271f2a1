"""Model folders, which anybody may have written: inspected before a library reads them."""
