"""Are measures what the hand computes, in every dialect, by every name?"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import DuplicateError, RecordError, SearchlabError, SettingError, SourceError
from searchlab.evaluation.dialects import DIALECTS, Dialect, make_dialect
from searchlab.evaluation.measure_families import FAMILIES, TREC_NAMES
from searchlab.evaluation.measures import parse_measure, parse_measures
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.records import Ranking

LOG3 = math.log2(3)


def measure(grades, name, dialect="trec"):
    """The value of one measure for documents that are ranked with these grades, all of them judged."""
    scores = -np.arange(len(grades), dtype=float)
    return evaluate_scores(scores, grades, [0, len(grades)], [name], dialect=dialect)[0, 0]


def judged(grades, ranked, name, dialect="trec"):
    """The value of one measure for a ranking of docnos."""
    ranking = Ranking("1", list(ranked), [float(-i) for i in range(len(ranked))])
    return evaluate_run({"1": grades}, [ranking], name, dialect=dialect).values[0, 0]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("letor3", (0 + 1 + 3 / LOG3) / (3 + 1)),
        ("letor4", (0 + 1 + 3 / LOG3) / (3 + 1)),
        ("trec", (1 / LOG3 + 2 / 2) / (2 + 1 / LOG3)),
        ("paper", (1 / LOG3 + 3 / 2) / (3 + 1 / LOG3)),
    ],
)
def test_one_ranking_has_three_ndcgs(dialect, expected):
    assert measure([0, 1, 2], "nDCG@3", dialect) == pytest.approx(expected, abs=1e-15)
    published = {"letor3": 0.7232, "letor4": 0.7232, "trec": 0.6199, "paper": 0.5869}
    assert round(expected, 4) == published[dialect]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Grades by rank: 0 2 1 0 1. Relevant at ranks 2, 3 and 5.
        ("AP", (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ("AP@3", (1 / 2 + 2 / 3) / 3),
        ("AP(rel=2)", 1 / 2),
        ("MAP", (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ("P@2", 1 / 2),
        ("P@10", 3 / 10),
        ("P(rel=2)@5", 1 / 5),
        ("R@3", 2 / 3),
        ("R", 1),
        ("Recall@1", 0),
        ("RR", 1 / 2),
        ("RR@1", 0),
        ("Rprec", 2 / 3),
        ("Success@1", 0),
        ("Success@2", 1),
        # One irrelevant document before each of the first two relevant ones, two before the last; two there are.
        ("Bpref", (1 / 2 + 1 / 2 + 0) / 3),
        ("IPrec@0.0", 2 / 3),
        ("IPrec@0.9", 3 / 5),
        ("SetP", 3 / 5),
        ("SetR", 1),
        ("SetF", 2 * (3 / 5) / (8 / 5)),
        ("SetAP", 3 / 5),
        ("Judged@3", 1),
        ("NumRet", 5),
        ("NumRel", 3),
        ("NumRelRet", 3),
        ("NumRel(rel=2)", 1),
        ("NumQ", 1),
        # (2^2 - 1)/16 = 3/16 at rank 2, then 1/16 at ranks 3 and 5.
        ("ERR", 3 / 16 / 2 + 13 / 16 / 16 / 3 + 13 / 16 * 15 / 16 / 16 / 5),
        ("ERR@2", 3 / 32),
        ("ERR(max_grade=2)@3", 3 / 4 / 2 + 1 / 4 * 1 / 4 / 3),
    ],
)
def test_a_measure_is_what_the_hand_computes(name, expected):
    assert measure([0, 2, 1, 0, 1], name) == pytest.approx(expected, abs=1e-15)


def test_inferred_precision_of_fully_judged_documents_is_nearly_ap():
    assert measure([1, 0, 1], "infAP") == pytest.approx((1 + 2 / 3) / 2, abs=1e-4)


def test_what_is_not_found_counts_against_a_run_of_trec_but_not_of_letor():
    grades = {"a": 1, "b": 2, "c": 0}
    assert judged(grades, "ca", "AP") == pytest.approx((1 / 2) / 2)
    assert judged(grades, "ca", "AP", "letor3") == pytest.approx(1 / 2)
    assert judged(grades, "ca", "nDCG") == pytest.approx((1 / LOG3) / (2 + 1 / LOG3))
    assert judged(grades, "ca", "nDCG", "letor3") == 1.0  # ranks 1 and 2 are not discounted
    assert judged(grades, "ca", "R@2", "paper") == 0.0  # only b has grade 2


def test_unjudged_documents_are_not_relevant_and_are_counted_by_judged():
    grades = {"a": 1, "b": 0, "c": -1}
    assert judged(grades, "xaybc", "Judged@2") == 1 / 2
    assert judged(grades, "xaybc", "Judged@10") == 3 / 5
    assert judged(grades, "xaybc", "Bpref") == 1.0  # x is not known to be irrelevant
    assert judged(grades, "bxa", "Bpref") == 0.0
    assert judged(grades, "cxa", "Bpref") == 1.0  # nor is c, graded below 0


def test_letor4_gives_nothing_for_a_list_that_is_too_short():
    assert measure([2, 1], "nDCG@3", "letor3") == 1
    assert measure([2, 1], "nDCG@3", "letor4") == 0
    assert measure([2, 1], "nDCG@2", "letor4") == 1
    assert measure([2, 1], "nDCG", "letor4") == 1
    assert measure([2, 1], "P@4", "letor4") == 1 / 2


def test_the_paper_takes_grade_1_for_irrelevant():
    assert measure([1, 2], "AP", "paper") == 1 / 2
    assert measure([1, 2], "AP(rel=1)", "paper") == 1
    assert measure([1, 2], "P@1", "paper") == 0


def test_a_measure_with_its_own_settings_overrides_the_dialect():
    for dialect in DIALECTS:
        assert measure([0, 1, 2], "nDCG(dcg='exp-log2')@3", dialect) == pytest.approx(0.5869, abs=5e-5)
        assert measure([0, 1, 2], 'nDCG(dcg="log2")@3', dialect) == pytest.approx(0.6199, abs=5e-5)
        assert measure([0, 1, 2], "nDCG(dcg=letor)@3", dialect) == pytest.approx(0.7232, abs=5e-5)
        assert measure([0, 1, 2], "AP(rel=2)", dialect) == pytest.approx(1 / 3)


def test_a_query_without_relevant_documents_scores_0_in_everything_but_counts():
    counts = {"NumRet": 2, "NumQ": 1, "Judged": 1}
    for family in FAMILIES.values():
        name = family.name + {"required": "@0.5" if family.name == "IPrec" else "@3"}.get(family.cutoff, "")
        for dialect in DIALECTS:
            assert measure([0, 0], name, dialect) == counts.get(family.name, 0), name


def test_empty_queries_score_0_and_no_queries_are_no_rows():
    assert evaluate_scores([1.0], [1], [0, 0, 1, 1], ["nDCG", "AP", "P@1", "Judged", "SetP"]).tolist() == [
        [0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0],
    ]
    assert evaluate_scores([], np.zeros(0, int), [0], ["nDCG"]).shape == (0, 1)


def test_ties_keep_row_order_in_letor_and_docno_order_in_trec():
    scores, grades, offsets = [1.0, 1.0, 2.0, 1.0, 1.0], [0, 1, 0, 0, 1], [0, 3, 5]
    assert evaluate_scores(scores, grades, offsets, "RR")[:, 0].tolist() == [1 / 3, 1 / 2]
    docnos = ["a", "é", "x", "b", "B"]  # descending: é before a, b before B
    rr = [evaluate_scores(scores, grades, offsets, "RR", dialect="trec", docnos=given) for given in (None, docnos)]
    assert [values[:, 0].tolist() for values in rr] == [[1 / 3, 1 / 2], [1 / 2, 1 / 2]]
    swapped = evaluate_scores(scores, grades, offsets, "RR", dialect="trec", docnos=["é", "a", "x", "B", "b"])
    assert swapped[:, 0].tolist() == [1 / 3, 1]


def test_trec_compares_scores_in_32_bits():
    close = [1.0, 1.0 + 1e-9]
    assert evaluate_scores(close, [1, 0], [0, 2], "RR", dialect="letor3")[0, 0] == 1 / 2
    assert evaluate_scores(close, [1, 0], [0, 2], "RR", dialect="trec", docnos=["b", "a"])[0, 0] == 1
    huge = [1e300, 1e301]
    assert evaluate_scores(huge, [1, 0], [0, 2], "RR", dialect="trec", docnos=["b", "a"])[0, 0] == 1


def reference_ndcg(grades, k, dialect):
    def discount(rank):
        if dialect.discount == "letor":
            return 1.0 if rank < 3 else 1 / math.log2(rank)
        return 1 / math.log2(1 + rank)

    def dcg(ranked):
        gains = [2**g - 1 if dialect.gain == "exponential" else g for g in ranked[:k]]
        return sum(gain * discount(rank) for rank, gain in enumerate(gains, start=1))

    best = dcg(sorted(grades, reverse=True))
    return dcg(grades) / best if best else 0.0


def reference_ap(grades, rel):
    precisions = [sum(g >= rel for g in grades[: i + 1]) / (i + 1) for i, grade in enumerate(grades) if grade >= rel]
    return sum(precisions) / len(precisions) if precisions else 0.0


QUERIES = st.lists(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([-1.0, 0.0, -0.0, 0.5, 1.0]) | st.floats(-1, 1)), max_size=30
    ),
    min_size=1,
    max_size=5,
)


@given(queries=QUERIES, k=st.integers(1, 12), name=st.sampled_from(["letor3", "trec", "paper"]))
def test_all_queries_at_once_are_as_each_by_itself(queries, k, name):
    dialect = replace(DIALECTS[name], float32=False)
    offsets = np.cumsum([0, *map(len, queries)])
    rows = [row for query in queries for row in query]
    grades, scores = np.array([g for g, _ in rows], int), np.array([s for _, s in rows], float)
    values = evaluate_scores(scores, grades, offsets, [f"nDCG@{k}", "AP", f"P@{k}"], dialect=dialect)
    for query, (ndcg, ap, precision) in zip(queries, values, strict=True):
        ranked = [grade for grade, _ in sorted(query, key=lambda row: -row[1])]  # stable
        assert ndcg == pytest.approx(reference_ndcg(ranked, k, dialect), abs=1e-12)
        assert ap == pytest.approx(reference_ap(ranked, dialect.rel), abs=1e-12)
        assert precision == pytest.approx(sum(g >= dialect.rel for g in ranked[:k]) / k, abs=1e-12)


def test_grades_of_any_size_have_an_ideal_ranking():
    assert measure([5, 700], "nDCG") == pytest.approx((5 + 700 / LOG3) / (700 + 5 / LOG3))
    assert measure([3, 64, 1], "nDCG@1", "paper") == pytest.approx(7 / (2.0**64 - 1))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (([1.0, math.nan], [0, 1], [0, 2], "AP"), "the score of row 1 is not a number"),
        (([1.0], [0, 1], [0, 2], "AP"), "expected one score for each grade"),
        (([1.0, 2.0], [0, 1], [0, 1], "AP"), "expected offsets that rise from 0 to the 2 rows"),
        (([1.0, 2.0], [0, 1], [0, 3, 2], "AP"), "expected offsets that rise"),
        (([1.0, 2.0], [0, 1], [1, 2], "AP"), "expected offsets that rise"),
        (([1.0, 2.0], [0, 0.5], [0, 2], "AP"), "grades are not all whole numbers"),
        (([1.0], [5], [0, 1], "ERR@20"), "found grade 5, expected at most 4; use ERR(max_grade=5)"),
        (([1.0], [5], [0, 1], []), "no measures"),
        (([1.0], [5], [0, 1], ["AP", "map"]), "measure map is named twice (as AP)"),
    ],
)
def test_scores_that_cannot_be_evaluated_are_refused(arguments, complaint):
    with pytest.raises(SettingError) as error:
        evaluate_scores(*arguments)
    assert complaint in str(error.value)


def test_grades_may_be_whole_floats():
    assert evaluate_scores([1.0, 2.0], [1.0, 0.0], [0, 2], "RR")[0, 0] == 1 / 2


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
def test_all_names_of_a_measure_mean_the_same(names, family, cutoff):
    measures = [parse_measure(name) for name in names]
    assert len(set(measures)) == 1
    assert [str(measure) for measure in measures] == names
    assert (measures[0].family, measures[0].cutoff) == (family, cutoff)


def test_trec_names_lead_there_and_back():
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
def test_a_name_that_means_nothing_is_explained(name, complaint):
    with pytest.raises(SettingError) as error:
        parse_measure(name)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


@given(st.text("nDCGAPMRr@_()=12. ,'é", max_size=15))
def test_any_name_is_a_measure_or_an_error_of_ours(name):
    try:
        assert parse_measure(name).family in FAMILIES
    except SearchlabError as error:
        assert str(error)


def test_measures_are_parsed_in_their_order():
    assert [measure.family for measure in parse_measures(["P@5", "AP"])] == ["P", "AP"]


def test_every_dialect_says_its_rules():
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
def test_unknown_rules_are_refused(make, complaint):
    with pytest.raises(SettingError) as error:
        make()
    assert complaint in str(error.value)


QRELS = {"1": {"a": 1, "b": 0}, "2": {"c": 2}, "3": {"d": 0}, "4": {"e": 1}}


def test_topics_are_those_of_both_sides_in_the_order_of_the_judgments():
    rankings = [Ranking("3", ["d"], [1.0]), Ranking("1", ["b", "a"], [2.0, 1.0]), Ranking("9", ["x"], [1.0])]
    evaluation = evaluate_run(QRELS, rankings, ["RR", "NumRel", "NumRet"])
    assert evaluation.qids == ("1", "3")
    assert evaluation.values.tolist() == [[1 / 2, 1, 2], [0, 0, 1]]
    assert evaluation.means == {"RR": 1 / 4, "NumRel": 1, "NumRet": 3}  # counts are summed up
    assert (evaluation.missing, evaluation.unjudged, evaluation.without_relevant) == (("2", "4"), ("9",), ("3",))
    assert (evaluation.n_topics, evaluation.n_missing, evaluation.n_unjudged) == (2, 2, 1)
    assert evaluation.values_of("recip_rank").tolist() == [1 / 2, 0]
    assert evaluation.mean("MRR") == 1 / 4


def test_a_complete_evaluation_counts_0_for_topics_that_the_run_lacks():
    evaluation = evaluate_run(QRELS, [Ranking("1", ["a"], [2.0])], ["RR", "NumRel"], complete=True)
    assert evaluation.qids == ("1", "2", "3", "4")
    assert evaluation.means == {"RR": 1 / 4, "NumRel": 3}
    assert evaluation.missing == ("2", "3", "4")


def test_gmap_is_a_geometric_mean():
    rankings = [Ranking("1", ["a"], [1.0]), Ranking("2", ["x", "y", "z", "c"], [4.0, 3.0, 2.0, 1.0])]
    assert evaluate_run(QRELS, rankings, "GMAP").mean("gm_map") == pytest.approx(math.sqrt(1 * 1 / 4))
    rankings.append(Ranking("4", ["x"], [1.0]))
    assert evaluate_run(QRELS, rankings, "GMAP").mean("gm_map") == pytest.approx((1 / 4 * 1e-5) ** (1 / 3))


def test_a_measure_that_was_not_asked_for_is_not_there():
    evaluation = evaluate_run(QRELS, [Ranking("1", ["a"], [1.0])], ["AP"])
    with pytest.raises(SettingError, match=r"measure P@5 was not evaluated; there is: AP"):
        evaluation.values_of("P@5")


@pytest.mark.parametrize(
    ("rankings", "error", "complaint"),
    [
        ([Ranking("1", ["a"], [math.nan])], RecordError, "x.run: the score of document a of topic 1 is not a number"),
        ([Ranking("1", ["a", "a"], [2.0, 1.0])], DuplicateError, "x.run: document a of topic 1 occurs twice"),
        ([Ranking("1", ["a"], []), Ranking("1", ["a"], [])], DuplicateError, "x.run: topic 1 has two rankings"),
        ([Ranking("1", ["a"], [])], RecordError, "x.run: topic 1 has 1 docnos and 0 scores"),
        (
            [Ranking(qid, ["a"], [1.0]) for qid in ("q1", "q2", "q3", "q4")],
            SourceError,
            "x.run: shares no topic with the judgments: it has q1, q2, q3 and 1 more, judged are 1, 2, 3 and 1 more",
        ),
        ([], SourceError, "shares no topic"),
    ],
)
def test_runs_that_cannot_be_trusted_are_refused(rankings, error, complaint):
    with pytest.raises(error) as raised:
        evaluate_run(QRELS, rankings, "AP", name="x.run")
    assert complaint in str(raised.value)
