"""Scoring of documents outside the top-k kernels: exhaustive, dense and mixture scoring."""
