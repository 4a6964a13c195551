"""Mixtures of language models: likelihood, training by EM and MCE, files of weights, and scorers by name."""
