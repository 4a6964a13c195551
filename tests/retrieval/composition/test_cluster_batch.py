"""Topics as the tasks of a cluster: their results are in order, and progress counts topics."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from searchlab.features import cluster_extraction
from searchlab.retrieval.composition.cluster_batch import divide_topics, run_on_parts
from searchlab.training import training_set


class BackwardCluster:
    """A cluster of two workers whose last call is finished first."""

    workers = ("one", "other")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def check_sources(self, paths):
        pass

    def check_contents(self, paths):
        pass

    def finish(self, function, calls):
        for number in reversed(range(len(calls))):
            yield number, function(*calls[number])

    def run(self, function, calls, *, on_done):
        results = {}
        for number, result in self.finish(function, calls):
            results[number] = result
            on_done(len(results), result)
        return [results[number] for number in range(len(calls))]


TOPICS = list(range(100))
PARTS = divide_topics(TOPICS, 2)


ENGINE = SimpleNamespace(snapshot=SimpleNamespace(folder=Path("it")))


def run_plainly(progress):
    found = run_on_parts(BackwardCluster(), list, TOPICS, lambda part: (part,), "searching", progress)
    assert len(found) == len(PARTS)
    return [topic for part in found for topic in part]


def run_extraction(progress):
    return cluster_extraction.extract_on_cluster(BackwardCluster(), ENGINE, TOPICS, [], progress)


def run_candidates(progress):
    return training_set._search_on_cluster(BackwardCluster(), ENGINE, TOPICS, None, progress)


@pytest.mark.parametrize("run", [run_plainly, run_extraction, run_candidates])
def test_progress_counts_the_topics_of_the_tasks_that_are_finished(monkeypatch, run):
    monkeypatch.setattr(cluster_extraction, "extract_part", lambda engine, topics, features: topics)
    monkeypatch.setattr(training_set, "find_candidates", lambda engine, topics, first_stage: topics)
    steps = []
    assert run(lambda *step: steps.append(step[1:])) == TOPICS
    sizes = [len(part) for part in reversed(PARTS)]
    assert len(set(sizes)) > 2
    assert steps == [(sum(sizes[:n]), 100) for n in range(len(sizes) + 1)]
