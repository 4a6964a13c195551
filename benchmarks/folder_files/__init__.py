"""Files for tests and benchmarks of folders, made by code: documents of every kind, and files with trouble."""
