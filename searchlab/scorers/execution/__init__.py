"""Execution of scorers: what binds a scorer to an index, and scores and explains documents there."""
