"""Import and export of topics and judgments: tables and TREC files."""
