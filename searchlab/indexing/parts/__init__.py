"""Indexing in parts: processes here, or tasks of a cluster, read them and write their documents as shards."""
