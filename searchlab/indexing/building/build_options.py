"""Options of a build: what becomes of duplicates, and of the documents that an index already has."""

from __future__ import annotations

from dataclasses import dataclass

from searchlab.errors import unknown_name
from searchlab.indexing.deduplication.duplicates import DUPLICATE_RULES


@dataclass(frozen=True)
class BuildOptions:
    """The arguments of `index` of the same names."""

    on_duplicate: str = "keep-all"
    deduplicate: bool = False
    prune: bool = False
    rebuild: bool = False

    def __post_init__(self) -> None:
        if self.on_duplicate not in DUPLICATE_RULES:
            raise unknown_name("rule for duplicates", self.on_duplicate, DUPLICATE_RULES)
