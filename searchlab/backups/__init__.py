"""Backups of an index with its judgments, models, topic models and semantic space."""
