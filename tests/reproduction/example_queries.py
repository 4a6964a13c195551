"""Small graded queries, whose pairs and hyperplanes can be worked out by hand."""

from searchlab.features.feature_table import FeatureTable


def table_of(queries):
    """A table from qid → rows of (grade, values)."""
    rows = [(qid, grade, values) for qid, graded in queries.items() for grade, values in graded]
    names = [f"f{number}" for number in range(len(rows[0][2]))]
    docnos = [f"d{number}" for number in range(len(rows))]
    return FeatureTable(names, [row[0] for row in rows], docnos, [row[2] for row in rows], [row[1] for row in rows])


# a: 1·2 + 1·1 + 2·1 = 5 pairs and b: 1 + 1 + 1 = 3, of three kinds; c: 3·3 = 9, all of one kind; d: none.
QUERIES = {
    "a": [(2, [0.0]), (1, [0.0]), (1, [0.0]), (0, [0.0])],
    "b": [(2, [0.0]), (1, [0.0]), (0, [0.0])],
    "c": [(1, [0.0])] * 3 + [(0, [0.0])] * 3,
    "d": [(1, [0.0]), (1, [0.0])],
}

# Grade 2 over 1 shows in the first feature alone, 1 over 0 in the second alone; query b has the first difference only.
SPLIT = {
    "a": [(2, [1.0, 1.0]), (1, [0.0, 1.0]), (0, [0.0, 0.0]), (0, [0.0, 0.0])],
    "b": [(2, [1.0, 0.0]), (1, [0.0, 0.0])],
}
