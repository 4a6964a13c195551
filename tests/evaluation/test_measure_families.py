"""The registry of measures: unique names, and arithmetic in the kernels."""

import re

import pytrec_eval

from searchlab.evaluation.kernels.measure_kernels import KINDS
from searchlab.evaluation.measure_families import FAMILIES, MEASURE_SETS, TREC_NAMES


def test_no_name_belongs_to_two_families():
    names = [name for family in FAMILIES.values() for name in (family.name, *family.aliases)]
    assert len(names) == len(set(names)) > 20


def test_every_family_has_arithmetic_in_the_kernels():
    assert {family.arithmetic for family in FAMILIES.values()} == set(KINDS)


def test_trec_names_are_names_of_families():
    assert {family for family, _ in TREC_NAMES.values()} == set(FAMILIES) - {"ERR", "RBP", "Judged"}


def test_sets_have_the_names_and_the_order_of_trec_eval():
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0, "b": 0.5}}
    for name, ours in MEASURE_SETS.items():
        theirs = list(pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)["1"])
        assert list(ours) == [each for each in theirs if each in ours]
        # What is left out belongs to families that searchlab does not have.
        lacking = {re.sub(r"_[0-9.]+$", "", each) for each in theirs if each not in ours}
        assert lacking.isdisjoint(TREC_NAMES)
        assert "runid" in lacking
