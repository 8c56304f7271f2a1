"""Pictures of a report, for its page and for papers."""
