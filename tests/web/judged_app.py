"""A small index in which a feature helps, and a desk to ask about it: for tests of judging, learning and measuring."""

from pathlib import Path

import numpy as np

from searchlab.records import Document, Topic
from searchlab.web.jobs.training_jobs import Jobs
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Shelf

N_TOPICS = 12


def title_documents(n_topics=N_TOPICS):
    """For each topic three documents with its word in the title, and five that have it in the body, more often."""
    random = np.random.default_rng(1)
    filler = [f"f{number}" for number in range(40)]
    found = []
    for number in range(n_topics):
        word = f"w{number}"
        for copy in range(8):
            text = " ".join(random.choice(filler, 10))
            good = Document(f"{number}-good{copy}", f"{word} f2", text, {"year": 2000 + copy})
            bad = Document(f"{number}-bad{copy}", "f3 f4", f"{text} {' '.join([word] * (copy - 1))}")
            found.append(good if copy < 3 else bad)
    return found


def title_grades(number):
    """What has the word in its title is relevant; one that has not was judged, too."""
    return {f"{number}-good{copy}": 1 for copy in range(3)} | {f"{number}-bad4": 0}


def make_desk(folder: Path, **options) -> Desk:
    return Desk(Shelf([folder]), Jobs(), **options)


def judge_topics(desk: Desk, name="mine", n_topics=N_TOPICS, judge="ann", grades=title_grades):
    """Put topics and judgments into a set."""
    topics = [Topic(str(number), f"w{number}") for number in range(n_topics)]
    desk.store(None).import_all(name, topics, {topic.qid: grades(topic.qid) for topic in topics}, judge=judge)
