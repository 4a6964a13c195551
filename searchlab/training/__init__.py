"""Training: recipes, validation, cross-validation, training from tables and from an index, advice."""
