"""Dialects: descriptions and invalid rules."""

from dataclasses import replace

import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.dialects import DIALECTS, Dialect, make_dialect


def test_every_dialect_describes_its_rules():
    sentences = [dialect.describe() for dialect in DIALECTS.values()]
    assert len(set(sentences)) == len(sentences) == 4
    assert "gain = grade and discount 1/log2(1 + rank); relevant from grade 1" in DIALECTS["trec"].describe()
    assert "relevant from grade 3" in replace(DIALECTS["letor3"], rel=3).describe()
    assert make_dialect(DIALECTS["paper"]) is make_dialect("paper")


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: make_dialect("letor"), "unknown dialect 'letor' (did you mean letor"),
        (lambda: Dialect("mine", "cubic", "log2", "row", "judged"), "unknown gain 'cubic'"),
        (lambda: replace(DIALECTS["trec"], rel=0), "rel is 0, expected a whole number of at least 1"),
    ],
)
def test_unknown_rules_are_errors(make, complaint):
    with pytest.raises(SettingError) as error:
        make()
    assert complaint in str(error.value)
