"""The index on disk: manifest, shards, columns, and what is stored beside them."""
