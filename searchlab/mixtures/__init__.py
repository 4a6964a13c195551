"""Mixtures of language models: their likelihood, and training of their weights by EM and MCE."""
