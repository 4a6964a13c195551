"""The encoding of postings and of the table of terms, compiled for shards with many postings."""

from __future__ import annotations

from numba import njit
from numba.extending import register_jitable

from searchlab.indexing.whoosh import posting_encoding, term_table

for part in (
    posting_encoding.put_integer,
    posting_encoding.put_big_endian,
    posting_encoding.put_weight,
    posting_encoding.put_positions,
    posting_encoding.put_head,
    posting_encoding.put_docs,
    posting_encoding.put_numbers,
    posting_encoding.put_position_lists,
):
    register_jitable(part)

encode_terms = njit(cache=True)(posting_encoding.encode_terms)
place_entries = njit(cache=True)(term_table.place_entries)
