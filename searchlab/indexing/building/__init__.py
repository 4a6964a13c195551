"""Building and changing an index: workers, shard writer, update, merge."""
