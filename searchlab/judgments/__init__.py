"""Relevance judgments by people.

Topics and judgments (`judgment_store`) are stored in a database beside the index (`database`), and imported and
exported as TREC files (`trec_exchange`). `agreement` compares judges, `pooling` selects documents to judge without
revealing which system found them, and `priorities` selects the documents to judge next.
"""
