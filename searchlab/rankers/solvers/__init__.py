"""Solvers of the pairwise losses that rankers minimise."""
