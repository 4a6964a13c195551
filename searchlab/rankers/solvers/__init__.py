"""Solvers for the pairwise losses of rankers."""
