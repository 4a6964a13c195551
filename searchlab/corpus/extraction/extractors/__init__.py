"""Extractors: one module a kind of document. Each is a function of an open binary file, run by a worker process."""
