"""Re-rank by estimators of other libraries: a regression of scikit-learn and LightGBM's LambdaMART."""

import tempfile
from pathlib import Path

from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

import searchlab

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"


@searchlab.ranker("own.trees", "LightGBM with few, small trees")
def small_trees(leaves=4):
    """An estimator; the parameter is a setting of the ranker."""
    return LGBMRanker(n_estimators=60, num_leaves=leaves, min_child_samples=10, n_jobs=1, random_state=0, verbose=-1)


topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")
train, test = topics[:13], topics[13:]

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)
    bm25 = engine.retriever("bm25")
    systems = {"bm25": bm25}
    for name, ranker in {"ridge": Ridge(alpha=1.0), "trees": "own.trees"}.items():
        recipe = searchlab.Recipe.for_search(ranker, n_folds=0)
        model = searchlab.train_from_index(engine, train, qrels, recipe=recipe)
        model.save(Path(folder) / f"{name}.json")  # plain numbers: using it needs neither library
        systems[name] = bm25 >> searchlab.rerank(Path(folder) / f"{name}.json")

    print(searchlab.experiment(list(systems.values()), test, qrels, "nDCG@10", names=list(systems)))
