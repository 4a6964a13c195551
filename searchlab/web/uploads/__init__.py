"""Uploads of documents: their files, their states on disk, and the processes that index them."""
