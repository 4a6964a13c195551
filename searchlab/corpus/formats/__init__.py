"""Document and topic formats, one module a format."""
