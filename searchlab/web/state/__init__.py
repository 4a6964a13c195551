"""What the server holds between requests: open indexes, caches, the application state."""
