"""Indexing in parts: processes of this machine, or tasks of a cluster, read them and write their documents as shards."""
