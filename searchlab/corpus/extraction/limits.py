"""Limits of the extraction of one document, whatever its file claims or contains."""

from __future__ import annotations

# Of the address space of a worker process, in which Python and the reader of PDF take about 0.3 GB.
MAX_MEMORY_MB = 1024
MAX_CPU_SECONDS = 60
# For a process that waits, such as for a network disk; it is killed then.
MAX_SECONDS = 300
# Of all parts of a zipped document together, unpacked; the content decides, not what the directory says.
MAX_UNPACKED_MB = 512
# A document that is not a file on disk (in an archive or gzipped) is held in memory.
MAX_HELD_MB = 128
MEGABYTE = 2**20
