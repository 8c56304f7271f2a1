"""What a run wrote down: the schema-2 report, its records and how files become records."""
