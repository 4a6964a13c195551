"""Pages of measures."""
