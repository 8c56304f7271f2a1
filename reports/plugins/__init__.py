"""What other installed packages add to K3."""
