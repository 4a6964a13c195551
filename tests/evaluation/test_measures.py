"""Names of measures: equivalent names, trec_eval's names and errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SearchlabError, SettingError
from searchlab.evaluation.measure_families import FAMILIES, TREC_NAMES
from searchlab.evaluation.measures import parse_measure, parse_measures


@pytest.mark.parametrize(
    ("names", "family", "cutoff"),
    [
        (["nDCG@10", "NDCG@10", "ndcg_cut_10"], "nDCG", 10),
        (["nDCG", "ndcg", "NDCG"], "nDCG", 0),
        (["AP", "MAP", "map"], "AP", 0),
        (["AP@100", "map_cut_100"], "AP", 100),
        (["P@5", "P_5", "Precision@5"], "P", 5),
        (["R@100", "Recall@100", "recall_100"], "R", 100),
        (["RR", "MRR", "recip_rank"], "RR", 0),
        (["Bpref", "bpref"], "Bpref", 0),
        (["NumRelRet", "num_rel_ret"], "NumRelRet", 0),
    ],
)
def test_all_names_of_a_measure_are_equivalent(names, family, cutoff):
    measures = [parse_measure(name) for name in names]
    assert len(set(measures)) == 1
    assert [str(measure) for measure in measures] == names
    assert (measures[0].family, measures[0].cutoff) == (family, cutoff)


def test_trec_names_are_parsed_and_returned():
    assert len(TREC_NAMES) > 20
    for name, (_, with_cutoff) in TREC_NAMES.items():
        written = name + ("_0.30" if "recall_" not in name and "iprec" in name else "_7") * with_cutoff
        assert parse_measure(written).trec_name == written
    assert parse_measure("nDCG@3").trec_name == "ndcg_cut_3"
    assert parse_measure("AP(rel=2)").trec_name == "AP(rel=2)"  # trec_eval has no name for it
    assert parse_measure("RR@10").trec_name == "RR@10"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("ndcg@10", "unknown measure 'ndcg@10' (did you mean nDCG@10 or"),
        ("NDGC@5", "(did you mean nDCG@5"),
        ("ndcg_ct_10", "ndcg_cut_10"),
        ("nDCG(dcg='exp\nlog2')@3", "unknown measure"),
        ("xyzzy", "unknown measure 'xyzzy'; there is: nDCG, AP,"),
        ("", "unknown measure ''"),
        ("P", "P needs a cutoff, such as P@10"),
        ("P@0", "cutoff is 0, expected a whole number of at least 1"),
        ("P@1.5", "cutoff is 1.5"),
        ("Bpref@5", "Bpref takes no cutoff"),
        ("AP(rel=0)", "rel is 0, expected a whole number of at least 1"),
        ("AP(rel)", "expected settings such as rel=2, found 'rel'"),
        ("AP(rel=1,rel=2)", "expected settings such as rel=2"),
        ("AP(dcg='log2')", "AP takes rel, found dcg"),
        ("NumRet(rel=1)", "NumRet takes no settings"),
        ("nDCG(dcg='log3')@5", "dcg is 'log3', expected log2, exp-log2, letor"),
        ("IPrec@1.5", "recall is 1.5, expected a number from 0 to 1"),
        ("IPrec@1.2.3", "recall is 1.2.3"),
    ],
)
def test_errors_for_unknown_names_suggest_known_ones(name, complaint):
    with pytest.raises(SettingError) as error:
        parse_measure(name)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


@given(st.text("nDCGAPMRr@_()=12. ,'é", max_size=15))
def test_any_name_is_a_measure_or_a_searchlab_error(name):
    try:
        assert parse_measure(name).family in FAMILIES
    except SearchlabError as error:
        assert str(error)


def test_measures_keep_their_order():
    assert [measure.family for measure in parse_measures(["P@5", "AP"])] == ["P", "AP"]
