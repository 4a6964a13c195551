"""Features of a user's own: stored fields, Python functions, and scores computed elsewhere."""
