"""Topic models of an index: PLSA and word topics, how they are trained, stored and used to score."""
