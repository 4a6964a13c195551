"""Columns of runs and judgments that are given as values: which column is which, and checks of what they hold.

Names of columns differ by tool; each list begins with the name that is preferred where a table has several.

    qid          searchlab, PyTerrier       query_id   ir_measures, ir_datasets       q_id   ranx
    docno        searchlab, PyTerrier       doc_id     ir_measures, ir_datasets, ranx
    relevance    searchlab, ir_measures     label      PyTerrier                      score  ranx, BEIR
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from searchlab.corpus.parsing.identifiers import FLOAT_IDS, find_non_column
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError, SettingError

if TYPE_CHECKING:
    from searchlab.types import Array, Floats, Ints

QID_NAMES = ("qid", "query_id", "q_id", "query-id")
DOCNO_NAMES = ("docno", "doc_id", "docid", "corpus-id")
GRADE_NAMES = ("relevance", "label", "rel", "grade", "score")
SCORE_NAMES = ("score",)
QUERY_NAMES = ("query", "text", "title")

# A grade has at most nine digits, as in files.
MAX_GRADE = 10**9 - 1


def choose_columns(frame: Any, wanted: Mapping[str, Sequence[str]]) -> list[Any]:
    """The name of each wanted column of a DataFrame, by the names it is known by; a missing one is a SettingError."""
    from searchlab.dataframes import column_names, index_hint

    found = column_names(frame)
    chosen = [next((name for name in names if name in found), None) for names in wanted.values()]
    missing = [names for name, names in zip(chosen, wanted.values(), strict=True) if name is None]
    if missing:
        expected = "; ".join(" or ".join(names) for names in missing)
        listed = ", ".join(excerpt(str(name)).strip("'") for name in found) or "none"
        raise SettingError(f"the DataFrame has the columns {listed}; expected also: {expected}{index_hint(frame)}")
    return chosen


def check_ids(kind: str, values: Array | Sequence[Any]) -> Array:
    """The docnos or qids (`kind`) of all rows as text: whole numbers become text, anything else is an error."""
    import numpy as np

    from searchlab.dataframes import objects

    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    types = set(map(type, listed))
    if types == {int}:
        listed = list(map(str, listed))
    elif types - {str}:
        listed = [_id(kind, value, row) for row, value in enumerate(listed)]
    wrong = find_non_column(listed)
    if wrong is not None:
        found = excerpt(listed[wrong]) if listed[wrong] else "an empty one"
        raise RecordError(_row(wrong), f"expected a {kind} without blanks and control characters, found {found}")
    return objects(listed)


def check_scores(values: Array | Sequence[Any]) -> Floats:
    """The scores of all rows, which are finite numbers."""
    return _numbers("score", values, "a finite number", lambda numbers: abs(numbers) < float("inf"))


def check_grades(values: Array | Sequence[Any]) -> Ints:
    """The grades of all rows, which are whole numbers; a column of floats may hold them."""
    import numpy as np

    grades = _numbers(
        "relevance", values, "a whole number as grade", lambda x: (x == np.floor(x)) & (abs(x) <= MAX_GRADE)
    )
    return grades.astype(np.int64)


def flatten(name: str, found: object) -> tuple[list[Any], list[Any], list[Any]]:
    """The qids, docnos and numbers of a dict of dicts, {qid: {docno: number}}."""
    if not isinstance(found, Mapping):
        raise SettingError(f"{name} is of type {type(found).__name__}, expected a dict {{qid: {{docno: number}}}}")
    for qid, inner in found.items():
        if not isinstance(inner, Mapping):
            raise SettingError(f"{name}: topic {qid} has a {type(inner).__name__}, expected a dict {{docno: number}}")
    qids = [qid for qid, inner in found.items() for _ in range(len(inner))]
    docnos = [docno for inner in found.values() for docno in inner]
    return qids, docnos, [number for inner in found.values() for number in inner.values()]


def attributes(rows: Iterable[Any], names: Sequence[str]) -> list[list[Any]]:
    """The columns of records with these attributes, such as the named tuples of ir_measures."""
    if not isinstance(rows, Iterable):
        raise SettingError(f"found a {type(rows).__name__}, expected records with {', '.join(names)}")
    listed = list(rows)
    for position, row in enumerate(listed):
        missing = [name for name in names if not hasattr(row, name)]
        if missing:
            found = f"found a {type(row).__name__} without {', '.join(missing)}"
            raise RecordError(_row(position), f"{found}, expected a record with {', '.join(names)}")
    return [[getattr(row, name) for row in listed] for name in names]


def _id(kind: str, value: object, row: int) -> str:
    import numpy as np

    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    is_float = isinstance(value, float | np.floating)
    if value is None or (is_float and value != value):
        raise RecordError(_row(row), f"has no {kind}")
    found = f"{kind} is {excerpt(str(value))} of type {type(value).__name__}, expected text or a whole number"
    if is_float:
        found += f" ({FLOAT_IDS})"
    raise RecordError(_row(row), found)


def _numbers(kind: str, values: Array | Sequence[Any], expected: str, is_right: Callable[[Floats], Any]) -> Floats:
    import numpy as np

    if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
        for row, value in enumerate(values):
            if not isinstance(value, int | float | np.number | np.bool_):
                found = f"has no {kind}" if value is None else f"{kind} is of type {type(value).__name__}"
                raise RecordError(_row(row), f"{found}, expected {expected}")
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise SettingError(f"a {kind} is too large, expected {expected}") from None
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~np.asarray(is_right(numbers), np.bool_))
    if len(wrong):
        row = int(wrong[0])
        raise RecordError(_row(row), f"{kind} is {numbers[row]}, expected {expected}")
    return numbers


def _row(position: int) -> str:
    return f"row {position + 1}"
