"""Documents, topics, judgments and runs that are given as Python values instead of files."""
