"""Latent semantic space: truncated SVD of the document-term matrix of an index."""
