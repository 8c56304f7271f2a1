"""Whether answers were recalled, and by what."""
