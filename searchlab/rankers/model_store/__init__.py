"""The models of an index on disk: their files, their history, and the default ranker."""
