"""Reproduction of the papers' experiments, with their figures and published numbers."""
