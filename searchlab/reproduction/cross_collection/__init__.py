"""Training on one collection and testing on another, as in the table of Chen's lecture (after Nallapati, SIGIR 2004).

A language model (its μ), mixtures of document and corpus (their weights, by EM and by MCE), classifiers and Ranking SVM
learn from the judged topics of each collection, and rank the topics of every other one: its candidates, with its own
statistics. Where both are the same collection, topics are ranked by what was learnt from the topics of other folds.
Rankers have Nallapati's six features, which the lecture lists.

Deviations from the lecture's table: its training topics and test topics of one collection are two disjoint sets, here
they are folds; mixtures and Ranking SVM are not in it, but elsewhere in the lecture.
"""
