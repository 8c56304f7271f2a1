"""What may be said: rules over recorded evidence. Imports reports only; runs nothing."""
