"""Whether a text holds the answer it was asked for: what the workload scores with and the gate scores again with."""
