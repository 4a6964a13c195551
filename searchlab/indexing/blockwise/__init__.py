"""Sums over all documents of an index, block by block: in this process, or on the workers of a cluster."""
