"""Training: jobs, models and the default ranker."""
