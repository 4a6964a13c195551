"""Training, tuning and experiments on a cluster give the models and numbers of one machine."""

import json

import numpy as np
import pytest

import searchlab
from searchlab.cluster.job_runs import finish_jobs
from searchlab.errors import SettingError
from searchlab.experiments.experiment import run_experiment
from searchlab.experiments.plan_file import read_plan
from searchlab.experiments.scorer_tuning import tune
from searchlab.reproduction.cross_collection.collection import prepare_collection
from searchlab.reproduction.cross_collection.cross_training import run_cross
from searchlab.reproduction.cross_collection.learners import make_learners
from searchlab.reproduction.letor import reproduce
from searchlab.reproduction.retrieval import run_retrieval
from searchlab.reproduction.simulation import simulate
from searchlab.training.recipe import Recipe
from tests.cluster import worker_tasks


@pytest.fixture(scope="module")
def qrels(topics):
    """Judgments, read-only as those of a file."""
    grades = {
        topic.qid: {f"d{number:03}": number % 3 for number in range(int(topic.qid), 300, 13)} for topic in topics[:12]
    }
    return searchlab.Qrels.from_dict(grades)


@pytest.fixture(scope="module")
def engine(folder):
    with searchlab.open(folder) as opened:
        yield opened


def test_a_model_is_that_of_one_machine(engine, topics, qrels, cluster, tmp_path):
    recipe = Recipe.for_search("rsvm", n_folds=3, n_parts=2, n_repeats=1)
    models = []
    for name, where in (("one", None), ("many", cluster)):
        bundle = searchlab.train_from_index(engine, topics[:12], qrels, "letor45", recipe=recipe, cluster=where)
        bundle.save(tmp_path / name)
        models.append(json.loads((tmp_path / name).read_text()))
    for model in models:
        model.pop("written", None)
    assert models[0] == models[1]


def test_a_model_of_a_table_is_that_of_one_machine(engine, topics, qrels, cluster, tmp_path):
    table = searchlab.extract(engine, topics[:12], engine.retriever("bm25") % 30, "letor45", qrels=qrels)
    recipe = Recipe("rsvm", n_folds=3, n_parts=2)
    models = []
    for name, where in (("one", None), ("many", cluster)):
        searchlab.train_from_table(table, recipe=recipe, cluster=where).save(tmp_path / name)
        models.append((tmp_path / name).read_bytes())
    assert models[0] == models[1]


def test_a_learning_curve_is_that_of_one_machine(engine, topics, qrels, cluster):
    recipe = Recipe.for_search("softmax", n_folds=3)
    one, many = (
        searchlab.learning_curve(engine, topics[:12], qrels, "letor45", recipe=recipe, sizes=[2, 8], cluster=where)
        for where in (None, cluster)
    )
    assert one.to_json() == many.to_json()
    assert [point.n_topics for point in one.points][-2:] == [2, 8]
    for here, there in zip(one.points, many.points, strict=True):
        assert here.per_topic.tobytes() == there.per_topic.tobytes()


def test_the_comparison_of_systems_is_that_of_one_machine(engine, topics, qrels, cluster):
    one, many = (
        run_retrieval(
            engine, topics[:12], qrels, name="few", features=["table1"], rankers=["rsvm"], n_folds=3, cluster=where
        )
        for where in (None, cluster)
    )
    assert one.to_json() == many.to_json()
    assert {system.name for system in one.systems} >= {"BM25", "RM3", "mixture, trained (MCE)"}


def test_training_across_collections_is_that_of_one_machine(engine, topics, qrels, cluster):
    halves = [
        prepare_collection(name, engine, part, qrels, "table1", cluster=where)
        for name, part, where in (("first", topics[:6], None), ("second", topics[6:12], cluster))
    ]
    learners = make_learners([Recipe("rsvm", n_folds=2, n_parts=2, from_search=True)])
    one, many = (run_cross(halves, learners, n_folds=2, cluster=where) for where in (None, cluster))
    assert one.to_json() == many.to_json()
    assert len(one.cells) == 8 and len(one.left_out) == 4  # mixtures learn from ten topics or more


def test_a_simulation_is_that_of_one_machine(cluster):
    one, many = (simulate(3, 2, cluster=where) for where in (None, cluster))
    for name, ranker in one.rankers.items():
        assert ranker.weights.tobytes() == many.rankers[name].weights.tobytes()


def test_tuning_is_that_of_one_machine(engine, topics, qrels, cluster):
    grid = {"k1": ["0.5", "1.2"], "b": ["0.2", "0.9"]}
    one, many = (tune(engine, topics[:12], qrels, "bm25", grid, n_folds=3, cluster=each) for each in (None, cluster))
    assert one.values.tobytes() == many.values.tobytes()
    assert (one.chosen, one.verdict()) == (many.chosen, many.verdict())


def test_an_experiment_is_that_of_one_machine(engine, topics, qrels, cluster, tmp_path):
    (tmp_path / "topics.tsv").write_text("".join(f"{topic.qid}\t{topic.text}\n" for topic in topics[:12]))
    lines = [f"{qid} 0 {docno} {grade}\n" for qid, graded in qrels.items() for docno, grade in graded.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    (tmp_path / "plan.toml").write_text(
        f'title = "t"\nindex = "{engine.snapshot.folder}"\ntopics = "topics.tsv"\nqrels = "qrels.txt"\n'
        'output = "results"\nmeasures = ["nDCG@10"]\nbaseline = "bm25"\n[folds]\nnumber = 3\n'
        '[features]\nset = "letor45"\n'
        '[[systems]]\nname = "bm25"\nscorer = "bm25"\ngrid = {k1 = [0.5, 1.2]}\n'
        '[[systems]]\nname = "rsvm"\nranker = "rsvm"\n'
    )
    plan = read_plan(tmp_path / "plan.toml")
    one = run_experiment(plan, output=tmp_path / "one", n_jobs=1)
    many = run_experiment(plan, output=tmp_path / "many", cluster=cluster)
    for run in ("bm25", "rsvm"):
        files = [next(each.folder.rglob(f"{run}*.run")) for each in (one, many)]
        assert files[0].read_bytes() == files[1].read_bytes()
    assert one.manifest["lead"] == many.manifest["lead"]


def test_folds_of_rankers_are_those_of_one_machine(cluster, tmp_path):
    draw = np.random.default_rng(5)
    for fold in range(1, 3):
        folder = tmp_path / f"Fold{fold}"
        folder.mkdir()
        for part in ("train", "vali", "test"):
            rows = [
                f"{draw.integers(3)} qid:{fold}{part}{query} "
                + " ".join(f"{number}:{draw.random():.4f}" for number in range(1, 4))
                + f" # docid = d{row}\n"
                for query in range(4)
                for row in range(8)
            ]
            (folder / f"{part}.txt").write_text("".join(rows))
    one, many = (reproduce(tmp_path, ["rsvm", "rankboost"], n_jobs=1, cluster=each) for each in (None, cluster))
    assert list(one) == list(many)
    for label, result in one.items():
        for here, there in zip(result.folds, many[label].folds, strict=True):
            assert here.measures == there.measures
            assert {name: values.tobytes() for name, values in here.per_query.items()} == {
                name: values.tobytes() for name, values in there.per_query.items()
            }


def test_jobs_are_done_here_in_processes_or_on_the_cluster(cluster):
    calls = [(number,) for number in range(5)]
    for options in ({"n_jobs": 1}, {"n_jobs": 2}, {"cluster": cluster}):
        assert sorted(finish_jobs(worker_tasks.double, calls, **options)) == [0, 2, 4, 6, 8]
    assert list(finish_jobs(worker_tasks.double, [])) == []


def test_an_error_of_a_job_is_raised(cluster, tmp_path):
    with pytest.raises(SettingError, match="number is 1,"):
        list(finish_jobs(worker_tasks.refuse, [(1, "", str(tmp_path / "done"))], cluster=cluster))
