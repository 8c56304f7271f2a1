"""What the machine was doing while a run was measured."""
