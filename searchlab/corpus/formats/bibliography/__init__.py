"""Formats of bibliographic records: databases and reference managers."""
