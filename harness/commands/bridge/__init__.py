"""Evidence from a machine one does not sit at: ask for it, run what is asked, fetch what came back."""
