"""Compiled loops that compute measures over all topics."""
