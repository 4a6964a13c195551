"""The index: building, storage on disk, and snapshots to read from."""
