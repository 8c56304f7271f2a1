"""One file a command. Only here do the harness and the gate meet."""
