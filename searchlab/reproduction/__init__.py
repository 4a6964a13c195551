"""Reproduction of the papers' experiments, with their figures, tables and published numbers."""
