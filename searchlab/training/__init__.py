"""Training: recipes, model selection, cross-validation, training from tables and from an index, and advice."""
