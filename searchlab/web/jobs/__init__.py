"""Work beside requests: thread pools and training jobs."""
