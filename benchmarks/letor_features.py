"""Comparison of our features with the values that LETOR published.

    python benchmarks/letor_features.py DIR

DIR is the LETOR 3.0 OHSUMED folder: `Meta` holds the counts that its features were computed from, `Feature-null` the
features, with NULL where one is undefined. The 45 features of all pairs are computed from the counts by the functions
that extraction uses, and compared. Published numbers have six decimals, so 5e-7 is the best that can be reached.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from report import table

from searchlab.features.catalogue import Feature, compute_features
from searchlab.features.feature_sets import make_feature_set
from searchlab.features.letor.meta_files import QueryCounts, read_meta_files

LIMIT = 1e-6

# The features of a pair of qid and docid.
Published = dict[tuple[str, str], list[float]]


def read_features(path: Path) -> Published:
    """The published features of each pair, NaN for NULL."""
    found = {}
    with path.open() as file:
        for line in file:
            features, _, docid = line.partition("#docid =")
            _, qid, *fields = features.split()
            values = [field.partition(":")[2] for field in fields]
            found[qid.removeprefix("qid:"), docid.strip()] = [np.nan if v == "NULL" else float(v) for v in values]
    return found


def compare(
    queries: Sequence[QueryCounts], features: tuple[Feature, ...], published: Published
) -> tuple[np.ndarray, np.ndarray]:
    """For each feature and pair, our value and LETOR's."""
    ours = [compute_features(features, query.counts) for query in queries]
    theirs = [[published.pop((query.qid, docid)) for docid in query.docnos] for query in queries]
    if published:
        sys.exit(f"{len(published)} pairs have features but no counts, such as {next(iter(published))}")
    return np.concatenate(ours), np.concatenate(theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    folder = parser.parse_args().folder
    if not (folder / "Meta").is_dir() or not list(folder.glob("Feature-null/**/*.txt")):
        sys.exit(f"{folder}: expected the folders Meta and Feature-null")
    features = make_feature_set("letor45").features
    published = read_features(next(folder.glob("Feature-null/**/*.txt")))
    ours, theirs = compare(read_meta_files(folder).queries, features, published)
    undefined, null = np.isnan(ours), np.isnan(theirs)
    deviations = np.where(undefined | null, 0.0, np.abs(ours - theirs)).max(axis=0)
    misplaced = (undefined != null).sum(axis=0)
    rows = [
        [str(place), feature.name, f"{deviation:.2e}", f"{n_null:,}", "exact" if not n else f"{n} differ"]
        for place, (feature, deviation, n_null, n) in enumerate(
            zip(features, deviations, null.sum(axis=0), misplaced, strict=True), start=1
        )
    ]
    print(f"{len(ours):,} pairs of query and document\n")
    print(table(["", "feature", "largest deviation", "NULL", "their places"], rows, n_labels=2))
    print(f"\nNULL where LETOR has it: {'yes' if not misplaced.any() else 'no'}")
    print(f"max deviation: {deviations.max():.3g}")
    sys.exit(0 if deviations.max() <= LIMIT and not misplaced.any() else 1)


if __name__ == "__main__":
    main()
