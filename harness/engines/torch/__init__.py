"""References in PyTorch. Imported only when an arm or a check asks for one; torch is an optional dependency."""
