"""Extraction of text from binary documents (PDF, Office files, books, mail) in worker processes with limits.

`pool` starts and watches the processes, `worker` is what runs in them, `extractors/` has one module a kind of document.
"""
