"""Features of query-document pairs: catalogue, extraction from an index, LETOR files, preprocessing.

A `FeatureTable` has a row for each pair of query and document, and a column for each feature.
"""
