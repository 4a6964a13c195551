"""Indexing in parts: documents that are read, and written as shards, by processes of this machine or by the tasks of a cluster."""
