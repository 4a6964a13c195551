"""The index on disk: manifest, locks, shards, columns and artefacts."""
