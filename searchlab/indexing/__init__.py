"""How is a corpus indexed? Analysis, shards, the store, and snapshots to read from."""
