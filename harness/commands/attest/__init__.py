"""`k3 attest`: sign what the gate says of a report, and see who signed it."""
