"""Parsing shared by several formats: tagged lines, SGML, LaTeX, keyed records, identifiers."""
