"""Pages of training: jobs, models, the verdict in pictures, and their forms."""
