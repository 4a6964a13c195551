"""Scorers: each weighs a term in a document by one published formula."""
