"""Search by several processes, each of which holds some shards of the index."""
