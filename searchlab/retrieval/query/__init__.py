"""Queries: parser, syntax tree, analysis, matching, phrases, wildcards, ranges and filters."""
