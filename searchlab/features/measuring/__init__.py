"""What is measured of candidates beside counts: positions, vectors, fields; and what is read for it."""
