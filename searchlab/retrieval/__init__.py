"""Retrieval: the search engine, its queries, its results, and the top-k kernel."""
