"""Steps compose with each other, and are nothing alone."""

import pytest

from searchlab.errors import SettingError
from searchlab.rankers.rerank import rerank
from searchlab.retrieval.composition.steps import StepChain, setting_label
from searchlab.retrieval.expansion import RM3
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.jelinek_mercer import JelinekMercer


def lengths(query, hits):
    return [len(hit.document.body) for hit in hits]


def test_steps_that_follow_each_other_are_a_step():
    chain = RM3() >> rerank(lengths) % 5
    assert isinstance(chain, StepChain)
    assert chain.label == "RM3 >> rerank(lengths) % 5"


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (BM25(), "BM25"),
        (BM25(k1=0.9), "BM25(k1=0.9)"),
        (JelinekMercer(lambda_=0.2), "JelinekMercer(lambda=0.2)"),
        (RM3(5, weight=0.3), "RM3(documents=5, weight=0.3)"),
        (object(), "object"),
    ],
)
def test_a_label_has_the_settings_that_are_not_the_defaults(value, label):
    assert setting_label(value) == label


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: RM3().search("heat"), "RM3 alone cannot search: it follows a retriever"),
        (lambda: rerank(lengths).run([]), r"rerank\(lengths\) alone cannot search"),
        (lambda: RM3() >> 3, "3 follows the step RM3: a pipeline begins with what searches"),  # type: ignore[operator]
        (lambda: 3 >> RM3(), "3 cannot come before RM3"),
        (lambda: RM3() % 0, "k is 0, expected 1 or more"),
        (lambda: RM3() % None, "the cut-off is None"),  # type: ignore[operator]
    ],
)
def test_what_steps_cannot_do_is_refused(mistake, message):
    with pytest.raises(SettingError, match=message):
        mistake()
