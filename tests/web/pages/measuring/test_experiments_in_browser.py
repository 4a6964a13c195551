"""The pages of experiments in a browser."""

import pytest

from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.topics import read_topics
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from tests.web.conftest import MEDICAL

PAGES = ["/experiments", "/experiment?name=titles", "/experiment?name=titles&qid=2"]


@pytest.fixture(scope="module")
def address(serve, medical, experiment):
    with JudgmentStore(judgments_file(medical)) as store:
        topics, grades = read_topics(MEDICAL / "topics.tsv"), read_qrels(MEDICAL / "qrels.txt")
        store.import_judgments("medical", topics, grades, judge="me")
    return serve(medical)


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible(check_page, path):
    check_page(path)
