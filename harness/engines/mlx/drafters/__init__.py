"""Drafters: each proposes the tokens of a block. The verifier decides, so none of them can change what is emitted."""
