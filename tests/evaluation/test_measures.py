"""Names of measures: equivalent names, trec_eval's names and errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SearchlabError, SettingError
from searchlab.evaluation.measure_families import FAMILIES, MEASURE_SETS, TREC_NAMES
from searchlab.evaluation.measure_plan import make_plan
from searchlab.evaluation.measures import Measure, parse_measure, parse_measures


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
        ("RBP(p=1)", "p is 1, expected a number between 0 and 1"),
        ("RBP(p=0)", "p is 0, expected"),
        ("RBP(p=nan)", "p is nan, expected"),
        ("RBP(p=often)", "p is often, expected"),
        ("AP(p=0.8)", "AP takes rel, found p"),
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


def names(*written):
    return [measure.name for measure in parse_measures(written)]


def test_measures_keep_their_order():
    assert names("P@5", "AP") == ["P@5", "AP"]


def test_commas_separate_names_but_not_settings():
    assert names("nDCG@10, AP") == ["nDCG@10", "AP"]
    assert names("RBP(p=0.8,rel=2),P@5", "RBP(rel=2, p=.5)@10") == ["RBP(p=0.8,rel=2)", "P@5", "RBP(rel=2, p=.5)@10"]
    assert parse_measures(["RBP(p=0.5,rel=2)@7"])[0] == Measure("RBP", 7, 2, persistence=0.5)


def test_measures_of_ir_measures_are_those_of_the_same_name():
    ir_measures = pytest.importorskip("ir_measures")
    assert names(ir_measures.nDCG @ 10, ir_measures.AP(rel=2)) == ["nDCG@10", "AP(rel=2)"]


@pytest.mark.parametrize("measure", [5, None, b"AP", object])
def test_what_is_no_name_is_refused(measure):
    with pytest.raises(SettingError, match="expected a name, such as nDCG@10"):
        parse_measures([measure])


def test_a_set_has_all_its_measures_except_those_that_are_named():
    assert names("all_trec") == list(MEASURE_SETS["all_trec"])
    assert len(names("official")) == 29
    assert names("AP,official")[:3] == ["AP", "num_q", "num_ret"]
    assert "map" not in names("official", "AP")
    assert names("official,all_trec") == names("all_trec")


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ([], "no measures: expected at least one"),
        (["AP,"], "measures 'AP,': found a comma without a name beside it"),
        (["AP,,P@5"], "found a comma without a name"),
        (["AP,MAP"], "measure MAP is named twice (as AP)"),
        (["AP", "P@5,AP"], "measure AP is named twice"),
        (["AP,xyzzy"], "unknown measure 'xyzzy'"),
    ],
)
def test_wrong_lists_are_errors(written, complaint):
    with pytest.raises(SettingError) as error:
        parse_measures(written)
    assert complaint in str(error.value)


@pytest.mark.parametrize("written", ["AP,P@5", "all_trec", "RBP(p=.8,rel=2),AP"])
def test_several_measures_where_one_is_expected_are_an_error(written):
    with pytest.raises(SettingError, match="found several measures"):
        parse_measure(written)


def test_plans_keep_the_names_that_were_written():
    written = ["AP", "MAP", "map"]
    assert [make_plan(name, "trec").measures[0].name for name in written] == written
