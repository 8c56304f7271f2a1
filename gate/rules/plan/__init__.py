"""What was planned and asked, against what was measured."""
