"""LETOR feature files: reading, writing, folds."""
