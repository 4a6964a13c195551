"""Stored documents: packed, read again, long bodies in blocks, and digests of them."""
