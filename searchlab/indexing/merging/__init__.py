"""Merging shards: which are merged, and how their columns become one."""
