"""What a drafter is worth on sequences it was not trained on, and how sure it should be told to be."""
