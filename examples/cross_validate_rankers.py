"""Cross-validate rankers with scikit-learn: metadata routing passes the qids, folds keep a topic together."""

import tempfile
from pathlib import Path

import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

import searchlab
from searchlab.features.candidates import searched

MEDICAL = Path(__file__).parents[1] / "corpora" / "medical"

sklearn.set_config(enable_metadata_routing=True)
topics = searchlab.read_topics(MEDICAL / "topics.tsv")
qrels = searchlab.read_qrels(MEDICAL / "qrels.txt")

with tempfile.TemporaryDirectory() as folder:
    searchlab.index(MEDICAL, folder)
    engine = searchlab.open(folder)
    table = searchlab.extract(engine, topics, searched(engine.retriever("bm25"), topics, k=50), "letor45", qrels=qrels)
print(table)

# Undefined values are imputed and all are scaled to 0 to 1, within each topic: nothing is learnt from other topics.
X = searchlab.Recipe().preprocessor.fit(table).transform(table).values
y, qid = table.grades, table.qids
folds = GroupKFold(5)

print("nDCG@10 in each fold:")
rankers = [searchlab.RankSVM(C=0.01), searchlab.RankSVMIR(C=0.01), searchlab.RankBoost(rounds=50)]
for ranker in [each.set_fit_request(qid=True).set_score_request(qid=True) for each in rankers]:
    scores = cross_val_score(ranker, X, y, cv=folds, params={"qid": qid, "groups": qid})
    print(f"{type(ranker).__name__:10}", scores.round(3), f"mean {scores.mean():.3f}")

# The best score is a little too high for new topics: these folds have chosen it.
grid = GridSearchCV(rankers[0], {"C": [0.001, 0.01, 0.1, 1, 10]}, cv=folds).fit(X, y, qid=qid, groups=qid)
for C, score in zip(grid.cv_results_["param_C"], grid.cv_results_["mean_test_score"], strict=True):
    print(f"RankSVM(C={C:g}): {score:.3f}", "best" if grid.best_params_["C"] == C else "")
