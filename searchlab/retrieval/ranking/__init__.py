"""The best documents of a search: by the compiled kernels, by all scores, or in the order of a field."""
