"""Is a model trained from an index compared with the search that it re-ranks, and recommended if it is better?"""

from dataclasses import replace

import numpy as np
import pytest

from searchlab.errors import DuplicateError, SettingError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.features.feature_sets import DEFAULT_SET
from searchlab.features.latent_semantics.semantic_space import SemanticSpace
from searchlab.rankers import builtin as builtin_module
from searchlab.rankers.builtin import load_builtin
from searchlab.rankers.bundle import hash_topic, load_bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.prior import Prior
from searchlab.rankers.reranking import Reranker
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.pipeline import Pipeline
from searchlab.training import from_index
from searchlab.training.cross_validation import BUILT_IN, cross_validate_table
from searchlab.training.from_index import compare_with_first_stage, train_from_index, train_prepared
from searchlab.training.recipe import Recipe
from searchlab.training.training_set import prepare_training

N_TOPICS = 16
FEATURES = ("letor.both.bm25", "letor.title.bm25", "doc.both.length")
# A title without the word has no BM25: as 0, not as the least that a title with it has.
RECIPE = Recipe("rsvm-ir", imputation="zero", measure="nDCG@10", dialect="trec", from_search=True, n_folds=4, n_parts=2)
QUICK = Recipe("rsvm", {"C": 0.05}, measure="nDCG@10", dialect="trec", powers=False, n_folds=4, n_parts=2)


def make_topics(n=N_TOPICS):
    return [Topic(str(number), f"w{number}") for number in range(n)]


@pytest.fixture(scope="module")
def documents():
    """For each topic three documents with its word in the title, and five that have it in the body, more often."""
    random = np.random.default_rng(1)
    filler = [f"f{number}" for number in range(40)]
    found = []
    for number in range(N_TOPICS):
        word = f"w{number}"
        for copy in range(8):
            text = " ".join(random.choice(filler, 10))
            if copy < 3:
                found.append(Document(f"{number:02d}-good{copy}", f"{word} f2", text))
            else:
                found.append(Document(f"{number:02d}-bad{copy}", "f3 f4", f"{text} {' '.join([word] * (copy - 1))}"))
    return found


@pytest.fixture(scope="module")
def folder(build, documents):
    return build(documents)


@pytest.fixture(scope="module")
def engine(folder):
    with SearchEngine(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def qrels():
    """What has the word in its title is relevant; a document that no search finds is, too."""
    return {str(n): {f"{n:02d}-good{copy}": 1 for copy in range(3)} | {"elsewhere": 1} for n in range(N_TOPICS)}


@pytest.fixture(scope="module")
def bundle(engine, qrels):
    return train_from_index(
        engine, make_topics(), qrels, FEATURES, recipe=RECIPE, first_stage=FirstStage(20), source="topics.tsv"
    )


def test_a_planted_signal_helps(bundle):
    trial = bundle.trial
    assert trial["helps"]
    assert list(trial["means"]) == ["rsvm-ir, tuned", "BM25", "RM3"]
    assert list(trial["means"]["BM25"]) == ["nDCG@10", "AP", "P@10"]
    # Three of four relevant documents can be found: AP .75 at the best.
    assert trial["means"]["rsvm-ir, tuned"]["AP"] == pytest.approx(0.75)
    assert trial["means"]["BM25"]["AP"] < 0.5
    assert trial["verdict"].startswith("rsvm-ir (tuned) helps: nDCG@10 .")
    assert "against BM25 on 16 held-out topics, p < .001 after correction: use it." in trial["verdict"]
    assert (trial["n_queries"], trial["n_folds"], trial["n_repeats"], trial["dialect"]) == (16, 4, 5, "trec")
    assert trial["advice"]["use"] == "rsvm-ir, tuned"
    assert [point["n_topics"] for point in trial["learning_curve"]["points"]] == [6, 12]
    assert trial["advice"]["more_judgments"].startswith("Learning from 12 topics instead of 6: nDCG@10 ")


def test_the_trial_has_the_value_of_each_system_on_each_held_out_topic(bundle):
    trial = bundle.trial
    held_out = trial["held_out"]
    assert (held_out["measure"], held_out["qids"]) == ("nDCG@10", [str(n) for n in range(N_TOPICS)])
    assert list(held_out["values"]) == list(held_out["intervals"]) == list(trial["means"])
    for name, values in held_out["values"].items():
        assert np.mean(values) == pytest.approx(trial["means"][name]["nDCG@10"])
        low, high = held_out["intervals"][name]
        assert low <= np.mean(values) <= high
    # Three of four relevant documents come first, and the fourth is never found: precision 1 up to recall .7.
    assert held_out["precision_recall"]["rsvm-ir, tuned"] == pytest.approx([1] * 8 + [0] * 3)


def test_the_bundle_knows_what_it_fits(bundle, engine, tmp_path):
    assert bundle.first_stage == FirstStage(20)
    assert bundle.analyser["fingerprint"] == engine.snapshot.manifest.settings.fingerprint
    assert set(bundle.definitions) == set(FEATURES)
    assert bundle.training["index"] == {"name": "it", "n_docs": 128}
    assert bundle.training["n_skipped_topics"] == 0
    assert bundle.training["source"] == "topics.tsv"
    bundle.save(tmp_path / "model.json")
    again = load_bundle(tmp_path / "model.json")
    assert again.to_json() == bundle.to_json()
    hits = Reranker(engine, again).pipeline().search("w3", k=3)
    assert {docno[:7] for docno in hits.docnos} == {"03-good"}


def test_what_is_kept_serves_words_that_no_topic_had(engine, bundle, build, documents):
    fresh = [Document("new-good", "w99 f2", "f1 f2 f3 f4 f5"), Document("new-bad", "f3 f4", "f1 f2 w99 w99 w99 w99 f5")]
    with SearchEngine(build([*documents, *fresh])) as other:
        assert other.search("w99", k=2).docnos == ["new-bad", "new-good"]
        assert Reranker(other, bundle).pipeline().search("w99", k=2).docnos == ["new-good", "new-bad"]


def test_noise_is_not_recommended(engine):
    random = np.random.default_rng(7)
    noise = {
        str(n): {f"{n:02d}-{kind}": 1 for kind in random.choice(["good0", "good1", "bad3", "bad4", "bad7"], 2, False)}
        for n in range(N_TOPICS)
    }
    found = train_from_index(engine, make_topics(), noise, ["doc.both.length"], recipe=QUICK, first_stage=FirstStage(8))
    assert not found.trial["helps"]
    assert ": stay with" in found.trial["verdict"]
    assert "rsvm helps" not in found.trial["verdict"]


def test_the_search_itself_as_a_model_neither_helps_nor_hurts(engine, qrels):
    recipe = Recipe("single", {"feature": 0}, measure="AP", dialect="trec", n_folds=2)
    data = prepare_training(engine, make_topics(), qrels, ["score.both.bm25"], FirstStage(8, expanded=False))
    found = train_prepared(engine, data, recipe, FirstStage(8, expanded=False), source="", progress=lambda *step: None)
    assert list(found.trial["means"]) == ["single", "BM25"]
    assert found.trial["means"]["single"] == pytest.approx(found.trial["means"]["BM25"])
    assert not found.trial["helps"]


def test_few_topics_are_too_few_to_say(engine, qrels):
    found = train_from_index(engine, make_topics(6), qrels, FEATURES, recipe=QUICK, first_stage=FirstStage(10))
    few = "6 topics with a relevant document are too few to say whether rsvm helps (nDCG@10 "
    assert found.trial["verdict"].startswith(few)
    assert found.trial["learning_curve"] is None


# What is prepared, and what is compared.


@pytest.fixture(scope="module")
def data(engine, qrels):
    topics = [*make_topics(), Topic("none", "w1"), Topic("never", "f1"), Topic("lost", "unheard")]
    judged = {**qrels, "never": {"x": 0}, "lost": {"00-good0": 2}}
    return prepare_training(engine, topics, judged, FEATURES, FirstStage(6))


def test_topics_without_a_relevant_document_are_skipped(data):
    assert [topic.qid for topic in data.topics] == [*(str(n) for n in range(N_TOPICS)), "lost"]
    assert data.n_skipped == 2


def test_candidates_and_grades_are_those_of_the_first_stage(data, engine, qrels):
    for topic in make_topics():
        chosen = FirstStage(6).pipeline(engine).start(topic.text).candidates(6)
        (rows,) = [rows for qid, rows in data.table.queries() if qid == topic.qid]
        assert tuple(data.table.docnos[rows]) == chosen.docnos
        assert data.table.grades[rows].tolist() == [qrels[topic.qid].get(docno, 0) for docno in chosen.docnos]
    assert "lost" not in data.table.query_ids
    assert data.table.names == FEATURES


def test_baselines_are_the_searches_alone(data, engine):
    assert list(data.baselines) == ["BM25", "RM3"]
    for name, expansion in (("BM25", None), ("RM3", RM3())):
        for topic, ranking in zip(data.topics, data.baselines[name], strict=True):
            query = Pipeline(engine, expansion=expansion).start(topic.text).expanded_query
            hits = engine.search(query, k=1000)
            assert (ranking.qid, ranking.docnos, ranking.scores) == (topic.qid, hits.docnos, hits.scores.tolist())
    assert list(prepare_training(engine, make_topics(4), {str(n): {"x": 1} for n in range(4)}, FEATURES,
                        FirstStage(3, "dirichlet", expanded=False)).baselines) == ["dirichlet"]  # fmt: skip


def test_rankings_by_a_model_are_followed_by_what_the_search_found_beyond(data):
    scores = np.arange(data.table.n_rows, dtype=float)
    rankings = {ranking.qid: ranking for ranking in data.rerank(scores)}
    first = {ranking.qid: ranking for ranking in data.baselines["BM25"]}
    assert list(rankings) == [topic.qid for topic in data.topics]
    for qid, rows in data.table.queries():
        own = data.table.docnos[rows].tolist()[::-1]
        found = rankings[qid]
        assert list(found.docnos[: len(own)]) == own
        assert list(found.docnos[len(own) :]) == [docno for docno in first[qid].docnos if docno not in own]
        assert all(np.diff(found.scores) < 0)
    assert list(rankings["lost"].docnos) == []
    assert any(len(rankings[qid].docnos) > rows.stop - rows.start for qid, rows in data.table.queries())


def test_equal_scores_are_ordered_by_docno(data):
    for ranking, (_, rows) in zip(data.rerank(np.zeros(data.table.n_rows)), data.table.queries(), strict=False):
        own = data.table.docnos[rows].tolist()
        assert list(ranking.docnos[: len(own)]) == sorted(own, reverse=True)


def test_the_trial_evaluates_complete_runs_against_all_judgments(data):
    scores = cross_validate_table(QUICK, data.table, QUICK.validation_measure(data.qrels))
    trial = compare_with_first_stage(QUICK, data, [scores])
    qrels = {topic.qid: data.qrels[topic.qid] for topic in data.topics}
    for name, run in {"rsvm": data.rerank(scores), **data.baselines}.items():
        expected = evaluate_run(qrels, run, ["nDCG@10", "AP", "P@10"], complete=True)
        assert trial.means[name] == pytest.approx(expected.means)
    # A topic for which nothing is found counts as 0 for all.
    assert trial.n_queries == 17
    assert [each.name_b for each in trial.comparisons] == ["BM25", "RM3"]


def test_no_topic_is_ranked_by_a_model_that_has_seen_it(engine, qrels, monkeypatch):
    seen, ranked = [], []
    learn = Recipe.learn

    def listen(self, train, judge, *others):
        seen.append(set(train.query_ids))
        choice = learn(self, train, judge, *others)
        score = type(choice).scores
        monkeypatch.setattr(
            type(choice),
            "scores",
            lambda own, table: ranked.append(set(table.query_ids)) or score(own, table),  # type: ignore[func-returns-value]
        )
        return choice

    monkeypatch.setattr(Recipe, "learn", listen)
    recipe = replace(QUICK, n_repeats=1)
    train_from_index(engine, make_topics(8), qrels, FEATURES, recipe=recipe, first_stage=FirstStage(6))
    assert len(seen) == 5
    assert seen[-1] == {str(n) for n in range(8)}
    assert all(len(qids) == 6 for qids in seen[:4])
    assert set.union(*ranked) == {str(n) for n in range(8)}
    for held_out in ranked:
        assert any(held_out.isdisjoint(qids) and held_out | qids == seen[-1] for qids in seen[:4])


def test_the_value_of_a_topic_is_its_mean_over_the_repeats(data):
    random = np.random.default_rng(2)
    repeats = [random.normal(size=data.table.n_rows) for _ in range(3)]
    together = compare_with_first_stage(QUICK, data, repeats)
    alone = [compare_with_first_stage(QUICK, data, [scores]).means["rsvm"]["AP"] for scores in repeats]
    assert together.n_repeats == 3
    assert together.means["rsvm"]["AP"] == pytest.approx(np.mean(alone))
    # The correction over two comparisons: the smaller p-value is doubled.
    smaller = min(together.comparisons, key=lambda each: each.p)
    assert smaller.p_corrected == pytest.approx(min(1.0, 2 * smaller.p))


@pytest.fixture(scope="module")
def with_space(build, documents, qrels):
    """Data with all features of the built-in model."""
    with SearchEngine(build(documents)) as opened:
        yield opened, prepare_training(opened, make_topics(), qrels, DEFAULT_SET, FirstStage(8))


def test_the_built_in_model_is_a_baseline_and_the_prior(with_space):
    opened, data = with_space
    recipe = Recipe.for_search("rsvm", n_folds=4, n_repeats=1)
    found = train_prepared(opened, data, recipe, FirstStage(8), source="", progress=lambda *step: None)
    assert list(found.trial["means"]) == ["rsvm, tuned", "BM25", "RM3", BUILT_IN]
    expected = data.rerank(load_builtin().scores(data.table))
    evaluation = evaluate_run(data.qrels, expected, ["nDCG@10"], complete=True)
    assert found.trial["means"][BUILT_IN]["nDCG@10"] == pytest.approx(evaluation.mean("nDCG@10"))
    share = found.recipe["prior"]["share"]
    assert found.recipe["prior"] == {**Prior.of("builtin").to_json(), "share": share}
    assert found.recipe_text.endswith(f", learning starts from builtin, whose share is {100 * share:.0f} %")
    points = found.trial["learning_curve"]["points"]
    assert [point["n_topics"] for point in points] == [0, 6, 12]


def test_topics_that_the_built_in_model_was_trained_on_neither_use_nor_face_it(with_space, monkeypatch):
    opened, data = with_space
    builtin = load_builtin()
    known = replace(builtin, training={**builtin.training, "topic_hashes": [hash_topic(data.topics[3].text)]})
    monkeypatch.setattr(builtin_module, "load_builtin", lambda: known)
    monkeypatch.setattr(from_index, "load_builtin", lambda: known)
    recipe = Recipe.for_search("rsvm", n_folds=4, n_repeats=1)
    found = train_prepared(opened, data, recipe, FirstStage(8), source="", progress=lambda *step: None)
    assert list(found.trial["means"]) == ["rsvm, tuned", "BM25", "RM3"]
    assert found.recipe["prior"] is None
    assert found.training["n_builtin_topics"] == 1


def test_the_same_seed_gives_the_same_verdict(with_space):
    _, data = with_space
    recipe = Recipe.for_search("rsvm", n_folds=4, n_repeats=2)
    verdicts = [from_index.validate(recipe, data).to_json() for _ in range(2)]
    assert verdicts[0] == verdicts[1]


def test_without_folds_there_is_no_trial(engine, qrels):
    recipe = Recipe("rsvm", {"C": 0.05}, n_folds=0, powers=False)
    found = train_from_index(engine, make_topics(4), qrels, FEATURES, recipe=recipe, first_stage=FirstStage(6))
    assert found.trial is None
    assert found.first_stage == FirstStage(6)


def test_what_features_need_is_made(build, documents, qrels):
    folder = build(documents)
    with SearchEngine(folder) as opened:
        features = ["letor.both.bm25", "semantic.both.query_50"]
        recipe = Recipe("rsvm", {"C": 0.05}, n_folds=0, powers=False)
        found = train_from_index(opened, make_topics(4), qrels, features, recipe=recipe, first_stage=FirstStage(6))
        SemanticSpace.open(opened.snapshot)
        assert len(Reranker(opened, found).pipeline().search("w1", k=3)) == 3


def test_what_cannot_be_trained_from_is_told(engine, qrels):
    with pytest.raises(SettingError, match="3 of 5 topics have a relevant document, expected at least 4"):
        train_from_index(engine, [*make_topics(3), Topic("x", "w1"), Topic("y", "w2")], qrels, FEATURES)
    with pytest.raises(DuplicateError, match="topic 0 occurs 2 times"):
        train_from_index(engine, [*make_topics(4), Topic("0", "w1")], qrels, FEATURES, first_stage=FirstStage(3))
    with pytest.raises(SettingError, match="unknown feature set 'semantics'"):
        train_from_index(engine, make_topics(4), qrels, "semantics")
    lost = [Topic(str(n), f"unheard{n}") for n in range(4)]
    with pytest.raises(SettingError, match="none of 4 topics has a candidate in the index"):
        train_from_index(engine, lost, qrels, FEATURES, recipe=QUICK)


def test_progress_is_told_by_stages(engine, qrels):
    told = []
    train_from_index(
        engine,
        make_topics(4),
        qrels,
        FEATURES,
        recipe=QUICK,
        first_stage=FirstStage(6),
        progress=lambda stage, done, of: told.append((stage, done, of)),
    )
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == [
        "searching",
        "extracting",
        "cross-validating",
        "training",
    ]
    assert all(0 <= done <= of for _, done, of in told)


def test_a_ranker_is_trained_by_the_recipe_for_searches_unless_a_recipe_is_given():
    assert Recipe.for_search("rsvm", seed=3) == Recipe(
        "rsvm", imputation="letor", measure="nDCG@10", dialect="trec", from_search=True, seed=3, prior="auto"
    )
    assert Recipe.for_search(measure="AP").measure == "AP"
    with pytest.raises(SettingError, match="found a ranker and a recipe, expected one of them"):
        train_from_index(None, [], {}, ranker="rsvm", recipe=Recipe())
    for recipe, found in (("lambdamart", "'lambdamart'"), (3, "int")):
        with pytest.raises(SettingError, match=f"recipe is {found}, expected a Recipe; a ranker is given as ranker="):
            train_from_index(None, [], {}, recipe=recipe)
