"""The registry of measures: unique names, and arithmetic in the kernels."""

from searchlab.evaluation.kernels.measure_kernels import KINDS
from searchlab.evaluation.measure_families import FAMILIES, TREC_NAMES


def test_no_name_belongs_to_two_families():
    names = [name for family in FAMILIES.values() for name in (family.name, *family.aliases)]
    assert len(names) == len(set(names)) > 20


def test_every_family_has_arithmetic_in_the_kernels():
    assert {family.arithmetic for family in FAMILIES.values()} == set(KINDS)


def test_trec_names_are_names_of_families():
    assert {family for family, _ in TREC_NAMES.values()} == set(FAMILIES) - {"ERR", "Judged"}
