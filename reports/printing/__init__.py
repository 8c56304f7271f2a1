"""What K3 prints for people, fitted to where they read it."""
