"""Experiments: plans of what to compare, the runner, results, tuning of scorers, and reports."""
