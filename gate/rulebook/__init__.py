"""What a rule is: its declaration, the codes, the thresholds, and the view of a report that rules are given."""
