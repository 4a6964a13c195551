"""HTML pages and forms, rendered from the answers of the API functions."""
