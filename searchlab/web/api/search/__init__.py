"""Searching: results, documents, comparisons, explanations, exports, saved searches."""
