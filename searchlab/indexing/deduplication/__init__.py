"""Deduplication: documents with one docno, and records of one publication."""
