"""A small index in which a feature helps, for tests of judging, training and measuring."""

from pathlib import Path

import numpy as np
import pytest

from searchlab.records import Document, Topic
from searchlab.web.api.judging.judge import judge_document
from searchlab.web.http_errors import HttpError
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from searchlab.web.state.request_state import RequestState

N_TOPICS = 12


def title_documents(n_topics=N_TOPICS):
    """For each topic three documents with its word in the title, and five that have it in the body, more often."""
    random = np.random.default_rng(1)
    filler = [f"f{number}" for number in range(40)]
    documents = []
    for number in range(n_topics):
        word = f"w{number}"
        for copy in range(8):
            text = " ".join(random.choice(filler, 10))
            good = Document(f"{number}-good{copy}", f"{word} f2", text, {"year": 2000 + copy})
            bad = Document(f"{number}-bad{copy}", "f3 f4", f"{text} {' '.join([word] * (copy - 1))}")
            documents.append(good if copy < 3 else bad)
    return documents


def title_grades(number):
    """Documents with the word in their titles are relevant; one without it is judged, too."""
    return {f"{number}-good{copy}": 1 for copy in range(3)} | {f"{number}-bad4": 0}


def make_app_state(folder: Path, **options) -> AppState:
    return AppState(OpenIndexes([folder]), **options)


def judge_topics(app_state: AppState, name="mine", n_topics=N_TOPICS, judge="ann", grades=title_grades):
    """Import topics and judgments into a topic set."""
    topics = [Topic(str(number), f"w{number}") for number in range(n_topics)]
    app_state.judgments().import_judgments(
        name, topics, {topic.qid: grades(topic.qid) for topic in topics}, judge=judge
    )


def judge(state: RequestState, docno, grade, judge="ann", **more):
    """Judge a document for a topic or a query."""
    return judge_document(state, docno=docno, grade=grade, judge=judge, **more)


def rejected(status, function, *arguments, **settings):
    """The message of the HTTP error that a call raises."""
    with pytest.raises(HttpError) as error:
        function(*arguments, **settings)
    assert error.value.status == status
    return error.value.message
