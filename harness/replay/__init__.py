"""Running rows of a report again: the report is untrusted, the models are found by digest, the rows are drawn."""
