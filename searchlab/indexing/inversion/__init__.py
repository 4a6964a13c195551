"""Inversion: from the texts and fields of documents to the columns of a shard."""
