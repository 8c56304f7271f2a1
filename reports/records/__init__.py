"""The records a report is made of. Pydantic models, frozen and strict."""
