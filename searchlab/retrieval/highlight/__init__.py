"""Highlighting: snippets, passages, and marked full texts."""
