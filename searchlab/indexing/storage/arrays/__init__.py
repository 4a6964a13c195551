"""Arrays in memory-mapped files, verified by blocks before they are read."""
