"""Topics that are numbered in another way: the documents tell how."""

import pytest

from searchlab.evaluation.file_checks.topic_match import explain_documents, explain_order, explain_topics
from tests.evaluation.file_checks.numbered_topics import N_TOPICS, WRITTEN, make_judgments, make_rankings

ORDER = "the judgments number topics by their order"
REMEDY = "--topic-ids ordinal numbers topics by their order"


@pytest.mark.parametrize(
    ("qids", "cause"),
    [
        # Without zeros, 1 and 2 are right by chance, which finds 4 of 14 relevant documents.
        (WRITTEN, f"{ORDER} (004 here, 3 there): {{14, 0}}; {REMEDY}"),
        ([qid.lstrip("0") for qid in WRITTEN], f"{ORDER} (4 here, 3 there): {{14, 4}}; {REMEDY}"),
        (map(str, range(N_TOPICS)), "the judgments number topics from 1, the run from 0 (0 here, 1 there): {14, 0}"),
        ([*"2345678"], "the judgments number topics from 0, the run from 1 (2 here, 1 there): {14, 0}"),
        ([f"q{n}" for n in range(1, N_TOPICS + 1)], "the prefix 'q' (q1 here, 1 there): {14, 0}"),
        ([f"0{n}" for n in range(1, N_TOPICS + 1)], "leading zeros (01 here, 1 there): {14, 0}"),
        (list("abcdefg"), f"{ORDER} (a here, 1 there): {{14, 0}}; {REMEDY}"),
        (map(str, range(1, N_TOPICS + 1)), ""),
    ],
)  # fmt: skip
def test_the_numbering_that_finds_the_relevant_documents_is_named(qids, cause):
    evidence = "then {} relevant documents are among the best 10, now {}"
    for found in ((14, 0), (14, 4)):
        cause = cause.replace(f"{{{found[0]}, {found[1]}}}", evidence.format(*found))
    assert explain_topics(make_judgments(), make_rankings(qids)) == (f"; likely cause: {cause}" if cause else "")


def test_swapped_columns_are_recognised_by_the_documents():
    swapped = {}
    for qid, judged in make_judgments().items():
        for docno, grade in judged.items():
            swapped.setdefault(docno, {})[qid] = grade
    cause = explain_topics(swapped, make_rankings(map(str, range(1, N_TOPICS + 1))))
    assert cause.startswith(
        "; likely cause: the columns of qid and docno are swapped in the judgments: then 14 relevant"
    )


def test_a_run_that_is_merely_bad_has_no_cause():
    qrels = make_judgments()
    rankings = make_rankings(WRITTEN)
    strange = {qid: {f"other-{docno}": grade for docno, grade in judged.items()} for qid, judged in qrels.items()}
    assert explain_topics(strange, rankings) == ""
    # Two topics are too few.
    assert explain_topics(qrels, {qid: rankings[qid] for qid in WRITTEN[2:4]}) == ""


def test_only_the_best_by_score_are_looked_at():
    qrels = make_judgments()
    rankings = make_rankings(WRITTEN)
    buried = {
        qid: type(ranking)(qid, (*ranking.docnos, *"abcdefghij"), (*ranking.scores, *[9.0] * 10))
        for qid, ranking in rankings.items()
    }
    assert explain_topics(qrels, buried) == ""


@pytest.mark.parametrize(
    ("written", "others", "is_order"),
    [
        (WRITTEN, ["1", "2", "3", "7"], True),
        (WRITTEN, ["1", "2", "8"], False),  # 8 is not a place among seven topics
        (WRITTEN, ["1", "2", "4"], False),  # all are numbers of topics
        (["1", "2", "3"], ["1", "2", "3"], False),
        (["1", "3", "2", "9"], ["4"], False),  # not in order
        (WRITTEN, ["0", "3"], False),
        (WRITTEN, ["a"], False),
        (["q1", "q4"], ["1", "2"], False),
        (WRITTEN, [], False),
        ([], ["1"], False),
    ],
)
def test_numbers_by_order_are_recognised_without_a_run(written, others, is_order):
    expected = f"; likely cause: these are numbers by the order of the topics (topic 004 is number 3 of 7); {REMEDY}"
    assert explain_order(written, others) == (expected if is_order else "")


def test_docnos_in_another_spelling():
    qrels = {qid: {docno.upper(): grade for docno, grade in judged.items()} for qid, judged in make_judgments().items()}
    cause = explain_documents(qrels, make_rankings(map(str, range(1, N_TOPICS + 1))))
    assert cause == "; likely cause: upper and lower case (d1 here, D1 there)"
