"""Pages of search: results, documents, comparison, explanation, saved searches, uploads."""
