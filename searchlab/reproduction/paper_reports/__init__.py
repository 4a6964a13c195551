"""The figures, tables and claims of the papers, as sections of reports."""
