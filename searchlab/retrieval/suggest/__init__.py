"""Suggestions: autocomplete and spelling correction."""
