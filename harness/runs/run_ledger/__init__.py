"""The run ledger: which runs were begun on this machine and how each ended, in a file that only grows."""
