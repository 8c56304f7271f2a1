"""Training a DFlash drafter."""
