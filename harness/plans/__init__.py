"""From the name of a preset to a plan that was checked as a whole. Loads no model."""
