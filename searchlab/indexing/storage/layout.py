"""Names of the files and folders of an index on disk.

manifest.json            settings, shards, sources; the one file that says what the index consists of
writer.lock              locked by the process that is writing the index
shard-1a2b3c4d.lease     there while workers of a cluster write shards of this prefix (see `write_lease`)
shard-1a2b3c4d-0/
  in-use                 locked, shared, by the readers of the shard
  columns                numbers for scoring (see `columns`)
  dead-5e6f7a8b          the numbers of deleted documents, if there are any
  documents              the stored documents (see `stored_documents`)
  whoosh/                the same postings as a Whoosh index, with positions
"""

from __future__ import annotations

# To be raised when a reader of the old layout could not read the new one.
LAYOUT_VERSION = 5

MANIFEST = "manifest.json"
# A manifest that is being written.
UNCOMMITTED_MANIFEST = "manifest.json.new"
WRITER_LOCK = "writer.lock"
SHARD_PREFIX = "shard-"
IN_USE = "in-use"
COLUMNS = "columns"
STORED_DOCUMENTS = "documents"
DELETED_PREFIX = "dead-"
WHOOSH = "whoosh"
