"""Whoosh's part of a shard: schema, segment writer, stored documents. No other indexing module imports Whoosh."""
