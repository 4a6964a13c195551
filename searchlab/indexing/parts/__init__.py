"""Indexing in parts: documents that are read, and written as shards, by the tasks of a cluster."""
