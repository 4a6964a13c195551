"""Pipelines that compose: what all have in common, steps, cut-offs, sums of scores, fusion, and re-ranking."""
