"""Near-duplicates: results that are the same publication as a better one, or have nearly the same text.

Records are of the same publication by the rule of `deduplication/same_records.py`: the same DOI, the same PMID, or the
same title, year and first author, and no DOI or PMID that differs. Texts are nearly the same if their resemblance
(Broder 1997) is at least 0.8:

    r(A, B) = |S(A) ∩ S(B)| / |S(A) ∪ S(B)|

where S is the set of shingles, all runs of 5 words, of title and body. Only the beginning of a long text counts, and
texts of less than 20 words are not compared: an "Editorial" is not a copy of another. A result belongs to the group of
the best result that it duplicates, whichever member of the group it resembles.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from searchlab.analysis.tokenizer import split_words
from searchlab.indexing.deduplication.same_records import Publications, hash_keys
from searchlab.records import Document

SHINGLE_WORDS = 5
MIN_RESEMBLANCE = 0.8
MIN_WORDS = 20
# The beginning of a text, in characters, that is compared.
MAX_COMPARED = 20_000
# How many results are examined to find k groups: this many for each, and at least as many in all.
EXAMINED_FACTOR, MIN_EXAMINED = 5, 100


@dataclass(frozen=True)
class Duplicate:
    """A result that duplicates a better one, and by what: the same DOI, or 94 % the same text."""

    docno: str
    title: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """The duplicate as JSON values, the same on the command line and in the JSON API."""
        return asdict(self)


@dataclass(frozen=True)
class DuplicateGroup:
    """The row of a result, and the results below it that duplicate it."""

    row: int
    duplicates: tuple[Duplicate, ...]


def examined_depth(k: int) -> int:
    """The number of results to search for, to find k groups."""
    return max(EXAMINED_FACTOR * k, MIN_EXAMINED)


def group_duplicates(documents: Iterable[Document], k: int | None = None) -> list[DuplicateGroup]:
    """The first k groups of results, given best first; all results are examined for duplicates of these."""
    groups: list[tuple[int, list[Duplicate]]] = []
    publications = Publications()
    # For each publication its group.
    group_of: list[int] = []
    by_shingle: defaultdict[int, list[int]] = defaultdict(list)
    # For each result that is in a group: its group, and its number of shingles.
    members: list[tuple[int, int]] = []
    for row, document in enumerate(documents):
        keys, shingles = hash_keys(document), _shingles(document)
        same = publications.find(keys)
        alike = None if same is not None else _same_text(shingles, by_shingle, members)
        if same is not None:
            kind, publication = same
            publications.extend(publication, keys)
            group, reason = group_of[publication], f"same {kind}"
        elif alike is not None:
            group, reason = alike
        elif k is None or len(groups) < k:
            group, reason = len(groups), ""
            groups.append((row, []))
        else:
            continue
        if reason:
            groups[group][1].append(Duplicate(document.docno, document.title, reason))
        if same is None:
            publications.add(keys)
            group_of.append(group)
        for shingle in shingles:
            by_shingle[shingle].append(len(members))
        members.append((group, len(shingles)))
    return [DuplicateGroup(row, tuple(duplicates)) for row, duplicates in groups]


def _same_text(
    shingles: set[int], by_shingle: defaultdict[int, list[int]], members: list[tuple[int, int]]
) -> tuple[int, str] | None:
    """The group of the member whose text is most alike, if it is nearly the same."""
    n_shared = Counter(member for shingle in shingles if shingle in by_shingle for member in by_shingle[shingle])
    resemblance = {
        member: shared / (len(shingles) + members[member][1] - shared) for member, shared in n_shared.items()
    }
    best = max(resemblance, key=lambda member: (resemblance[member], -member), default=None)
    if best is None or resemblance[best] < MIN_RESEMBLANCE:
        return None
    return members[best][0], f"{100 * resemblance[best]:.0f} % the same text"


def _shingles(document: Document) -> set[int]:
    """The hashes of all runs of words of a document; none if it is too short to compare."""
    words = split_words(f"{document.title} {document.body[:MAX_COMPARED]}")
    if len(words) < MIN_WORDS:
        return set()
    return {hash(tuple(words[start : start + SHINGLE_WORDS])) for start in range(len(words) - SHINGLE_WORDS + 1)}
