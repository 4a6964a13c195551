"""Building and changing an index: indexer, workers, shard writer, update, deletion."""
