"""The Whoosh index of a shard: schema, segment writer, stored documents. Only these indexing modules import Whoosh."""
