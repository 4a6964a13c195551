"""Relevance judgments by people.

Topics and judgments (`judgment_store`) are stored in a database beside the index (`storage/`), edited (`topics/`), and
imported and exported (`exchange/`). `agreement` compares judges, `pooling` selects documents to judge without revealing
which system found them, and `priorities` selects the documents to judge next. `searches/` has saved and past searches.
"""
