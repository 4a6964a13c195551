"""Topic models of an index: PLSA and the word topic model, their learning, their files and their use."""
