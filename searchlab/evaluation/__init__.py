"""Evaluation: measures, dialects, significance tests, comparison and fusion of rankings."""
