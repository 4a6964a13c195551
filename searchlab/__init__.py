"""searchlab: index a corpus, search it with exact classic scorers, and trust every number.

    import searchlab
    searchlab.index("corpora/medical", "indexes/medical")
    engine = searchlab.open("indexes/medical")
    for hit in engine.search("t-cell lymphoma", scorer=searchlab.BM25(k1=0.9), k=10):
        print(hit.rank, hit.score, hit.docno, hit.title)

Names are loaded when they are first used, so that importing searchlab costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from searchlab.analysis.custom_analyzers import analyzer as analyzer
    from searchlab.cluster.cluster import Cluster as Cluster
    from searchlab.corpus import Collection as Collection
    from searchlab.corpus import Qrels as Qrels
    from searchlab.corpus import ReadingNotes as ReadingNotes
    from searchlab.corpus import Run as Run
    from searchlab.corpus import find_collection as find_collection
    from searchlab.corpus import read_documents as read_documents
    from searchlab.corpus import read_qrels as read_qrels
    from searchlab.corpus import read_run as read_run
    from searchlab.corpus import read_topics as read_topics
    from searchlab.corpus.custom_formats import document_format as document_format
    from searchlab.corpus.trec.runs import write_run as write_run
    from searchlab.corpus.values.conversion import make_qrels as make_qrels
    from searchlab.corpus.values.conversion import make_run as make_run
    from searchlab.corpus.values.conversion import make_topics as make_topics
    from searchlab.errors import JudgmentWarning as JudgmentWarning
    from searchlab.errors import QueryWarning as QueryWarning
    from searchlab.errors import SearchlabError as SearchlabError
    from searchlab.errors import TrainingTopicsWarning as TrainingTopicsWarning
    from searchlab.errors import TransferWarning as TransferWarning
    from searchlab.evaluation.comparison import compare_evaluations as compare_evaluations
    from searchlab.evaluation.custom_measures import GradedTopic as GradedTopic
    from searchlab.evaluation.custom_measures import measure as measure
    from searchlab.evaluation.run_evaluation import evaluate_run as evaluate_run
    from searchlab.evaluation.score_evaluation import evaluate_scores as evaluate_scores
    from searchlab.experiments.system_experiment import experiment as experiment
    from searchlab.features.extraction import extract as extract
    from searchlab.features.feature_table import FeatureTable as FeatureTable
    from searchlab.features.letor.folds import read_folds as read_folds
    from searchlab.features.letor.letor_files import read_letor as read_letor
    from searchlab.features.letor.letor_files import write_letor as write_letor
    from searchlab.features.query_context import QueryCandidates as QueryCandidates
    from searchlab.features.user_defined.custom_features import feature as feature
    from searchlab.features.user_defined.external_features import external_feature as external_feature
    from searchlab.indexing.building.build_summary import BuildSummary as BuildSummary
    from searchlab.indexing.building.deletion import delete as delete
    from searchlab.indexing.building.indexer import index as index
    from searchlab.indexing.checking.index_doctor import examine as examine
    from searchlab.indexing.merging.merge import merge as merge
    from searchlab.mixtures.weights import read_weights as read_weights
    from searchlab.rankers.bundle import Bundle as Bundle
    from searchlab.rankers.bundle import load_bundle as load_bundle
    from searchlab.rankers.estimators.baselines import LinearRanker as LinearRanker
    from searchlab.rankers.estimators.baselines import SingleFeatureRanker as SingleFeatureRanker
    from searchlab.rankers.estimators.classifiers import MaxEntClassifier as MaxEntClassifier
    from searchlab.rankers.estimators.classifiers import SVMClassifier as SVMClassifier
    from searchlab.rankers.estimators.knn_ranksvm import KNNRankSVM as KNNRankSVM
    from searchlab.rankers.estimators.lambdamart import LambdaMART as LambdaMART
    from searchlab.rankers.estimators.ordrank import MHR as MHR
    from searchlab.rankers.estimators.ordrank import OrdRank as OrdRank
    from searchlab.rankers.estimators.query_dependent_rankboost import (
        QueryDependentRankBoost as QueryDependentRankBoost,
    )
    from searchlab.rankers.estimators.rankboost import RankBoost as RankBoost
    from searchlab.rankers.estimators.ranksvm import RankSVM as RankSVM
    from searchlab.rankers.estimators.ranksvm import RankSVMIR as RankSVMIR
    from searchlab.rankers.opening import open as open
    from searchlab.rankers.ranker_registry import make_ranker as make_ranker
    from searchlab.rankers.ranker_registry import ranker as ranker
    from searchlab.rankers.rerank import rerank as rerank
    from searchlab.rankers.reranking import Reranker as Reranker
    from searchlab.records import Document as Document
    from searchlab.records import Ranking as Ranking
    from searchlab.records import TermStats as TermStats
    from searchlab.records import Topic as Topic
    from searchlab.retrieval.composition.combinations import Fusion as Fusion
    from searchlab.retrieval.engine import SearchEngine as SearchEngine
    from searchlab.retrieval.expansion import RM3 as RM3
    from searchlab.retrieval.expansion import similar_query as similar_query
    from searchlab.retrieval.fusion import fuse as fuse
    from searchlab.retrieval.pipeline import Pipeline as Pipeline
    from searchlab.retrieval.query.filters import Filter as Filter
    from searchlab.scorers.absolute_discount import AbsoluteDiscount as AbsoluteDiscount
    from searchlab.scorers.base import FormulaScorer as FormulaScorer
    from searchlab.scorers.base import PostingScorer as PostingScorer
    from searchlab.scorers.bm25 import BM25 as BM25
    from searchlab.scorers.bm25f import BM25F as BM25F
    from searchlab.scorers.custom_scorers import scorer as scorer
    from searchlab.scorers.dirichlet import Dirichlet as Dirichlet
    from searchlab.scorers.jelinek_mercer import JelinekMercer as JelinekMercer
    from searchlab.scorers.mixture import Mixture as Mixture
    from searchlab.scorers.plsa import PLSA as PLSA
    from searchlab.scorers.registry import make_scorer as make_scorer
    from searchlab.scorers.tfidf import TFIDF as TFIDF
    from searchlab.scorers.two_stage import TwoStage as TwoStage
    from searchlab.scorers.word_topic_model import WTM as WTM
    from searchlab.topic_models.topic_model_store import build_topic_model as build_topic_model
    from searchlab.topic_models.topic_model_store import open_topic_model as open_topic_model
    from searchlab.training.from_index import train_from_index as train_from_index
    from searchlab.training.from_table import train_from_table as train_from_table
    from searchlab.training.learning_curve import LearningCurve as LearningCurve
    from searchlab.training.learning_curve import learning_curve as learning_curve
    from searchlab.training.recipe import Recipe as Recipe

_HOMES = {
    "searchlab.analysis.custom_analyzers": "analyzer",
    "searchlab.cluster.cluster": "Cluster",
    "searchlab.corpus": (
        "Collection Qrels ReadingNotes Run find_collection read_documents read_qrels read_run read_topics"
    ),
    "searchlab.errors": "JudgmentWarning QueryWarning SearchlabError TrainingTopicsWarning TransferWarning",
    "searchlab.evaluation.comparison": "compare_evaluations",
    "searchlab.retrieval.fusion": "fuse",
    "searchlab.evaluation.custom_measures": "GradedTopic measure",
    "searchlab.evaluation.run_evaluation": "evaluate_run",
    "searchlab.evaluation.score_evaluation": "evaluate_scores",
    "searchlab.training.from_index": "train_from_index",
    "searchlab.training.from_table": "train_from_table",
    "searchlab.training.learning_curve": "LearningCurve learning_curve",
    "searchlab.training.recipe": "Recipe",
    "searchlab.experiments.system_experiment": "experiment",
    "searchlab.features.extraction": "extract",
    "searchlab.features.letor.folds": "read_folds",
    "searchlab.features.letor.letor_files": "read_letor write_letor",
    "searchlab.features.feature_table": "FeatureTable",
    "searchlab.features.query_context": "QueryCandidates",
    "searchlab.features.user_defined.custom_features": "feature",
    "searchlab.features.user_defined.external_features": "external_feature",
    "searchlab.indexing.building.build_summary": "BuildSummary",
    "searchlab.indexing.building.deletion": "delete",
    "searchlab.indexing.building.indexer": "index",
    "searchlab.indexing.checking.index_doctor": "examine",
    "searchlab.indexing.merging.merge": "merge",
    "searchlab.scorers.registry": "make_scorer",
    "searchlab.mixtures.weights": "read_weights",
    "searchlab.scorers.plsa": "PLSA",
    "searchlab.scorers.word_topic_model": "WTM",
    "searchlab.topic_models.topic_model_store": "build_topic_model open_topic_model",
    "searchlab.rankers.bundle": "Bundle load_bundle",
    "searchlab.rankers.estimators.baselines": "LinearRanker SingleFeatureRanker",
    "searchlab.rankers.estimators.classifiers": "MaxEntClassifier SVMClassifier",
    "searchlab.rankers.estimators.knn_ranksvm": "KNNRankSVM",
    "searchlab.rankers.estimators.lambdamart": "LambdaMART",
    "searchlab.rankers.estimators.ordrank": "MHR OrdRank",
    "searchlab.rankers.estimators.query_dependent_rankboost": "QueryDependentRankBoost",
    "searchlab.rankers.estimators.rankboost": "RankBoost",
    "searchlab.rankers.estimators.ranksvm": "RankSVM RankSVMIR",
    "searchlab.rankers.ranker_registry": "make_ranker ranker",
    "searchlab.rankers.rerank": "rerank",
    "searchlab.rankers.reranking": "Reranker",
    "searchlab.retrieval.composition.combinations": "Fusion",
    "searchlab.records": "Document Ranking TermStats Topic",
    "searchlab.corpus.custom_formats": "document_format",
    "searchlab.corpus.trec.runs": "write_run",
    "searchlab.corpus.values.conversion": "make_qrels make_run make_topics",
    "searchlab.rankers.opening": "open",
    "searchlab.retrieval.engine": "SearchEngine",
    "searchlab.retrieval.expansion": "RM3 similar_query",
    "searchlab.retrieval.pipeline": "Pipeline",
    "searchlab.retrieval.query.filters": "Filter",
    "searchlab.scorers.absolute_discount": "AbsoluteDiscount",
    "searchlab.scorers.base": "FormulaScorer PostingScorer",
    "searchlab.scorers.bm25": "BM25",
    "searchlab.scorers.bm25f": "BM25F",
    "searchlab.scorers.custom_scorers": "scorer",
    "searchlab.scorers.dirichlet": "Dirichlet",
    "searchlab.scorers.jelinek_mercer": "JelinekMercer",
    "searchlab.scorers.mixture": "Mixture",
    "searchlab.scorers.tfidf": "TFIDF",
    "searchlab.scorers.two_stage": "TwoStage",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = ["__version__", *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name == "pyterrier":  # needs PyTerrier, and so is no name of __all__
        return import_module("searchlab.pyterrier")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'searchlab' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
