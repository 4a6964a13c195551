"""Application state: open indexes, judgment stores, caches, and the state that one request takes of them."""
