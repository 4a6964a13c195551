"""How do queries and documents become numbers to learn from?

A `FeatureTable` has a row for each pair of query and document, and a column for each feature.
"""
