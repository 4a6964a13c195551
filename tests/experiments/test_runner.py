"""Does an experiment learn only from topics that it does not test, and go on where it was interrupted?"""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from searchlab.corpus.trec.runs import read_run
from searchlab.errors import SourceError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.experiments import report_builder, runner
from searchlab.experiments.cache import Cache, fingerprint, load_run, load_table, store_run, store_table
from searchlab.experiments.experiment import run_experiment
from searchlab.experiments.experiment_results import ExperimentResults, read_experiment_manifest
from searchlab.experiments.inputs import ExperimentInputs
from searchlab.experiments.plan_file import read_plan
from searchlab.experiments.report_builder import build_report, lead
from searchlab.experiments.runner import SystemResult, learn_fold
from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.bundle import load_bundle
from searchlab.records import Document, Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.training import selection
from searchlab.training.recipe import Recipe
from searchlab.training.selection import Choice

N_TOPICS = 12
WORDS = [f"word{number}" for number in range(N_TOPICS)]
# Each topic's answer has its word in the title; others have it in the body, the last one more often than the answer.
DOCUMENTS = [
    Document(f"d{number}-{kind}", *texts)
    for number, word in enumerate(WORDS)
    for kind, texts in enumerate(
        [
            (word, f"{word} is told here at some length"),
            ("other", f"{word} here and nothing else"),
            ("other", f"{word} and again {word} and {word}"),
        ]
    )
]
PLAN = """
index = "index"
topics = "topics.tsv"
qrels = "qrels.txt"
output = "out"
measures = ["nDCG@10", "AP"]
[folds]
number = 3
[first_stage]
k = 10
rm3 = false
[features]
names = ["letor.title.bm25", "letor.body.bm25", "letor.both.tf"]
[[systems]]
scorer = "bm25"
[[systems]]
name = "tuned"
scorer = "bm25"
grid = {b = [0.2, 0.9]}
[[systems]]
name = "SVM"
ranker = "rsvm"
settings = {C = 1}
parts = 2
"""
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="1pt" height="1pt" viewBox="0 0 1 1"></svg>'


@pytest.fixture(scope="module")
def index(build):
    return build(DOCUMENTS)


@pytest.fixture(autouse=True)
def undrawn(request, monkeypatch):
    """Drawing takes most of the time of a small experiment; one test draws."""
    if "the_report_shows" not in request.node.name:
        for name in ("bars", "curves", "differences", "precision_recall"):
            monkeypatch.setattr(report_builder, name, lambda *given, **named: DRAWING)


@pytest.fixture
def home(tmp_path, index):
    """A folder with a plan and what it names."""
    (tmp_path / "index").symlink_to(index)
    (tmp_path / "topics.tsv").write_text("".join(f"q{n}\t{word}\n" for n, word in enumerate(WORDS)) + "none\tfiller\n")
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d{n}-0 1\nq{n} 0 d{n}-2 0\n" for n in range(N_TOPICS)))
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def run(home, **options):
    return run_experiment(read_plan(home / "plan.toml"), **{"n_jobs": 1} | options)


def files_of(folder):
    """All files of results but the manifest, which has times, and the times themselves."""
    skipped = {"manifest.json", "times.csv", "report.html", "report.md", "report.tex"}
    paths = [path for path in folder.rglob("*") if path.is_file() and "cache" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.name not in skipped}


# -- nothing of a test fold is seen


def test_a_learner_sees_neither_rows_nor_judgments_of_the_fold_that_it_ranks(home, monkeypatch):
    seen, ranked = [], []
    learn, scores = Recipe.learn, Choice.scores

    def spy(self, train, judge, *rest):
        seen.append((frozenset(train.query_ids), frozenset(judge.qrels)))
        return learn(self, train, judge, *rest)

    def spy_scores(self, table):
        ranked.append((frozenset(table.query_ids), table.grades))
        return scores(self, table)

    monkeypatch.setattr(Recipe, "learn", spy)
    monkeypatch.setattr(Choice, "scores", spy_scores)
    folds = [frozenset(fold) for fold in run(home).manifest["folds"]]
    everyone = frozenset().union(*folds)
    assert len(folds) == 3
    assert len(everyone) == N_TOPICS
    # The last one is the model that is kept, which learns from all.
    assert seen == [(everyone - fold, everyone - fold) for fold in folds] + [(everyone, everyone)]
    assert ranked == [(fold, None) for fold in folds]


def test_every_fit_of_tuning_is_made_without_the_fold_and_without_its_own_part(monkeypatch):
    fits, judged = [], []
    training = selection._training

    def spy(prepared):
        fits.append(frozenset(prepared.query_ids))
        return training(prepared)

    monkeypatch.setattr(selection, "_training", spy)
    table, qrels = planted(reveal=())
    recipe = Recipe("rsvm", normalisation="none", measure="nDCG@10", dialect="trec", n_parts=2)
    judge = type(recipe.validation_measure())
    per_query = judge.per_query
    monkeypatch.setattr(
        judge,
        "per_query",
        lambda self, own, scores: judged.append(frozenset(own.query_ids)) or per_query(self, own, scores),  # type: ignore[func-returns-value]
    )
    held_out = ["0", "3", "6"]
    learn_fold(recipe, table, qrels, held_out)
    others = frozenset(table.query_ids) - set(held_out)
    assert len(fits) >= 4
    assert all(fit <= others for fit in fits)
    assert any(fit < others for fit in fits)
    assert judged
    assert all(own < others for own in judged)


def planted(reveal):
    """Noise that helps a little, and a column that tells the grades of some queries and is 0 for all others."""
    generator = np.random.default_rng(1)
    qids = [f"{number}" for number in range(9) for _ in range(20)]
    grades = generator.integers(0, 2, len(qids))
    useful = grades + 2.5 * generator.standard_normal(len(qids))
    told = np.where(np.isin(qids, list(reveal)), grades, 0)
    docnos = [f"d{number}" for number in range(len(qids))]
    table = FeatureTable(["useful", "planted"], qids, docnos, np.column_stack([useful, told]), grades)
    qrels = {}
    for qid, docno, grade in zip(qids, docnos, grades.tolist(), strict=True):
        qrels.setdefault(qid, {})[docno] = grade
    return table, qrels


@pytest.mark.parametrize("ranker", ["rsvm-ir", "rankboost", "svm"])
def test_a_feature_that_reveals_grades_of_held_out_queries_alone_is_of_no_use(ranker):
    held_out = ["0", "1", "2"]
    recipe = Recipe(ranker, measure="nDCG@10", dialect="trec", powers=False, n_parts=2)
    table, qrels = planted(reveal=held_out)
    lesson = learn_fold(recipe, table, qrels, held_out)
    clean, _ = planted(reveal=())
    rows = np.isin(table.qids.astype(str), held_out)
    if ranker == "svm":
        # Its kernel knows distances, in which the column counts: but it cannot tell which side is good.
        assert ndcg(lesson.scores, table.rows(rows), qrels) < 0.9
    else:
        without = learn_fold(recipe, clean, qrels, held_out)
        assert lesson.scores == pytest.approx(without.scores, abs=1e-6)
    # The column would tell all to who looked: learnt from the held-out queries themselves, the ranking is perfect.
    cheat = recipe.learn(table.rows(rows), recipe.validation_measure({qid: qrels[qid] for qid in held_out}))
    assert ndcg(cheat.scores(table.rows(rows)), table.rows(rows), qrels) == pytest.approx(1)


def ndcg(scores, table, qrels):
    runs = [Ranking(qid, table.docnos[rows].tolist(), scores[rows].tolist()) for qid, rows in table.queries()]
    return evaluate_run(qrels, runs, "nDCG@10").mean("nDCG@10")


# -- results


def test_results_are_written_and_can_be_read_by_what_reads_such_files(home):
    finished = run(home)
    folder, manifest = finished.folder, finished.manifest
    assert folder == home / "out"
    assert set(manifest["files"]) == {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "cache" not in path.parts and path.name != "manifest.json"
    }
    assert {"runs/bm25.run", "runs/tuned.run", "runs/svm.run", "models/svm.json", "report.html", "report.tex"} <= set(
        manifest["files"]
    )
    assert manifest["n_topics"] == N_TOPICS
    assert manifest["n_skipped_topics"] == 1
    assert manifest["versions"]["searchlab"]
    assert manifest["plan"]["systems"][2]["settings"] == {"C": 1}
    qrels = {f"q{n}": {f"d{n}-0": 1, f"d{n}-2": 0} for n in range(N_TOPICS)}
    rows = list(csv.DictReader((folder / "per-query.csv").read_text().splitlines()))
    assert len(rows) == 3 * N_TOPICS
    for system in manifest["systems"]:
        evaluation = evaluate_run(qrels, read_run(folder / "runs" / f"{system['name'].lower()}.run"), ["nDCG@10", "AP"])
        assert system["means"] == pytest.approx(evaluation.means)
        own = [float(row["AP"]) for row in rows if row["system"] == system["name"]]
        assert own == evaluation.values_of("AP").tolist()
    # A title that has the word is what makes an answer: the ranker has to find that out.
    assert manifest["systems"][2]["means"]["nDCG@10"] == 1.0
    bundle = load_bundle(folder / "models" / "svm.json")
    assert bundle.trial["n_folds"] == 3
    assert bundle.training["n_queries"] == N_TOPICS
    fold_of = {qid: f"{n}" for n, fold in enumerate(manifest["folds"], start=1) for qid in fold}
    assert all(row["fold"] == fold_of[row["qid"]] for row in rows)


def test_each_topic_is_ranked_with_the_settings_that_other_folds_chose(home):
    finished = run(home)
    chosen = finished.manifest["systems"][1]["chosen"]
    assert len(chosen) == 3
    assert all(point in ({"b": 0.2}, {"b": 0.9}) for point in chosen)


def test_the_report_shows_all_that_was_asked_for(home):
    text = (run(home).folder / "report.md").read_text()
    for heading in ("Systems and method", "Effectiveness", "Figures", "helped and hurt most", "Largest weights"):
        assert heading in text
    for figure in ("means.svg", "ndcg.svg", "precision-recall.svg", "topics-svm.svg"):
        assert f"]({figure})" in text
    assert "rules of trec" in text
    assert "letor.title.bm25" in text
    assert "SVM helped topic q" in text


def test_an_unchanged_experiment_is_not_run_again(home, monkeypatch):
    first = run(home)
    before = {path: path.stat().st_mtime_ns for path in first.folder.rglob("*")}
    monkeypatch.setattr(runner, "learn_fold", None)
    monkeypatch.setattr(runner, "Pipeline", None)
    second = run(home)
    assert (first.was_there, second.was_there) == (False, True)
    assert second.manifest == first.manifest
    assert {path: path.stat().st_mtime_ns for path in first.folder.rglob("*")} == before


def count_folds(monkeypatch):
    learnt = []
    original = runner.learn_fold
    monkeypatch.setattr(runner, "learn_fold", lambda *given: learnt.append(given[3]) or original(*given))  # type: ignore[func-returns-value]
    return learnt


def test_an_interrupted_experiment_goes_on_and_ends_as_if_nothing_had_been(home, monkeypatch):
    whole = files_of(run(home, output=home / "whole").folder)
    original, calls = runner.learn_fold, []

    def interrupted(*given):
        calls.append(given[3])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*given)

    monkeypatch.setattr(runner, "learn_fold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(home)
    assert [path.name for path in (home / "out").iterdir()] == ["cache"]
    monkeypatch.setattr(runner, "learn_fold", original)
    learnt = count_folds(monkeypatch)
    finished = run(home)
    assert learnt == [calls[2]]
    assert files_of(finished.folder) == whole


@pytest.mark.parametrize(
    ("name", "before", "after", "n_learnt"),
    [
        ("plan.toml", "[[systems]]\nscorer", '[[systems]]\nscorer = "jm"\n[[systems]]\nscorer', 0),
        ("plan.toml", "C = 1", "C = 2", 3),
        ("plan.toml", "number = 3", "number = 4", 4),
        ("plan.toml", '"nDCG@10", "AP"', '"nDCG@10", "P@5"', 0),
        ("qrels.txt", "q1 0 d1-2 0", "q1 0 d1-2 1", 3),
        ("topics.tsv", "word11\n", "word11 word3\n", 3),
    ],
)
def test_what_has_changed_is_computed_again_and_nothing_else(home, monkeypatch, name, before, after, n_learnt):
    run(home)
    text = (home / name).read_text()
    assert before in text
    (home / name).write_text(text.replace(before, after))
    learnt = count_folds(monkeypatch)
    finished = run(home)
    assert not finished.was_there
    assert len(learnt) == n_learnt


def test_fresh_computes_everything_again(home, monkeypatch):
    first = files_of(run(home).folder)
    learnt = count_folds(monkeypatch)
    assert files_of(run(home, fresh=True).folder) == first
    assert len(learnt) == 3


def test_a_damaged_piece_and_a_lost_file_are_made_again(home, monkeypatch):
    first = run(home)
    whole = files_of(first.folder)
    (first.folder / "runs" / "svm.run").unlink()
    damaged = sorted((first.folder / "cache").glob("scores-*"))[0]
    damaged.write_bytes(damaged.read_bytes()[:50])
    learnt = count_folds(monkeypatch)
    assert files_of(run(home).folder) == whole
    assert len(learnt) == 1


def test_files_and_pieces_of_an_earlier_plan_are_removed(home):
    folder = run(home).folder
    n_pieces = len(list((folder / "cache").iterdir()))
    (home / "plan.toml").write_text(PLAN[: PLAN.index('[[systems]]\nname = "tuned"')])
    run(home)
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["bm25.run"]
    assert list((folder / "models").iterdir()) == []
    assert len(list((folder / "cache").iterdir())) == 1 < n_pieces
    assert read_experiment_manifest(folder)["lead"].startswith("BM25 reaches nDCG@10 ")


def test_cores_do_not_change_results(home):
    one = files_of(run(home).folder)
    assert files_of(run(home, output=home / "two", n_jobs=2).folder) == one


def test_a_folder_of_something_else_is_not_written_to(home):
    (home / "out").mkdir()
    (home / "out" / "thesis.txt").write_text("precious")
    with pytest.raises(SourceError, match="out: found other files, expected an empty folder or results"):
        run(home)


def test_folds_that_do_not_fit_the_topics_are_told_with_the_file(home):
    (home / "plan.toml").write_text(PLAN.replace("number = 3", 'queries = [["q1"], ["q2"]]'))
    with pytest.raises(SourceError, match=r"plan\.toml: \[folds\]: found no fold with q0, q3, q4 and 7 more"):
        run(home)


def test_a_plan_needs_an_index(home):
    (home / "plan.toml").write_text(PLAN.replace('index = "index"\n', ""))
    with pytest.raises(SourceError, match="found neither index nor collection"):
        run(home)


# -- the sentence


def results_of(engine, home, ranks):
    """Results in which the answer of each topic has these ranks, by system; the system S is a ranker."""
    topics = tuple(Topic(f"q{n}", word) for n, word in enumerate(WORDS[: len(next(iter(ranks.values())))]))
    qrels = {topic.qid: {f"d{n}-0": 1} for n, topic in enumerate(topics)}
    plan = replace(read_plan(home / "plan.toml"), baseline="A", measures=("RR",))
    outcomes = []
    for name, own in ranks.items():
        rankings = []
        for n, rank in enumerate(own):
            docnos = [f"d{n}-1", f"d{n}-2"]
            docnos.insert(rank - 1, f"d{n}-0")
            rankings.append(Ranking(f"q{n}", docnos, [3.0, 2.0, 1.0]))
        system = plan.rankers[0] if name == "S" else plan.systems[0]
        outcomes.append(SystemResult(replace(system, name=name), tuple(rankings)))
    folds = (("q0",), tuple(topic.qid for topic in topics[1:]))
    return ExperimentResults(plan, ExperimentInputs(engine, topics, qrels, folds, 0), tuple(outcomes))


@pytest.fixture(scope="module")
def engine(index):
    with SearchEngine(index) as engine:
        yield engine


@pytest.mark.parametrize(
    ("ranks", "sentence"),
    [
        (
            {"A": [2] * 12, "B": [1] * 12, "C": [2] * 11 + [1]},
            "B ranks better than A, and that is hardly chance: RR 1.0000 against .5000 on 12 topics "
            "(12 better, 0 worse, p < .001).",
        ),
        (
            # Of 2^6 ways to give signs to six equal gains two are as extreme: p = 1/32.
            {"A": [2] * 12, "B": [1] * 6 + [2] * 6},
            "B ranks better than A, and that is unlikely to be chance: RR .7500 against .5000 on 12 topics "
            "(6 better, 0 worse, p = .03).",
        ),
        (
            {"A": [2] * 12, "B": [2] * 11 + [1], "C": [3] * 12},
            "Nothing is shown to be better than A: the best is B with RR .5417 against .5000 on 12 topics "
            "(1 better, 0 worse, p = 1.00), which may be chance. C is worse.",
        ),
        (
            {"A": [1] * 12, "B": [1] * 11 + [2]},
            "Nothing is better than A here: the nearest is B with RR .9583 against 1.0000 on 12 topics "
            "(0 better, 1 worse, p = 1.00).",
        ),
        (
            {"A": [2] * 4, "B": [1] * 4},
            "Too few topics to say which system is best: B with RR 1.0000 against .5000 on 4 topics "
            "(4 better, 0 worse, p = .12).",
        ),
        ({"A": [2] * 12}, "A reaches RR .5000 on 12 topics; nothing else was tried."),
    ],
)
def test_the_first_sentence_says_what_it_means(engine, home, ranks, sentence):
    results = results_of(engine, home, ranks)
    assert lead(results) == sentence
    report = build_report(results, {})
    assert report.summary == sentence


def test_a_ranker_is_judged_by_the_best_system_that_learns_nothing(engine, home):
    results = results_of(engine, home, {"A": [2] * 12, "B": [1] * 12, "S": [1] * 11 + [2]})
    result = results.trial(results.outcome("S"))
    assert (result.best.name_b, result.helps, set(result.means)) == ("B", False, {"A", "B", "S"})
    assert [each.p_corrected is not None for each in result.comparisons] == [True, True]
    sentence = lead(results)
    assert sentence.startswith("B ranks better than A")
    verdict = "S does not help so far: RR 1.0000 → .9583 against B on 12 held-out topics"
    assert f"Of the systems that learn nothing, B is the best here: {verdict}" in sentence
    assert sentence.endswith(": stay with B for now.")
    assert results.trial(results.outcome("B")) is None
    # Against the baseline alone the sentence has said it all.
    assert "stay with" not in lead(results_of(engine, home, {"A": [2] * 12, "S": [1] * 12}))


def test_marks_say_what_is_no_chance(engine, home):
    results = results_of(engine, home, {"A": [2] * 12, "B": [1] * 12, "C": [3] * 12, "D": [2] * 11 + [1]})
    (table,) = [
        block for block in build_report(results, {}).sections[1].blocks if getattr(block, "name", "") == "measures"
    ]
    assert table.marks == {(1, 1): "▲", (2, 1): "▼"}
    assert table.rows == (("A", 0.5), ("B", 1.0), ("C", pytest.approx(1 / 3)), ("D", pytest.approx(6.5 / 12)))


def test_systems_whose_names_make_the_same_file_are_both_drawn(engine, home):
    results = results_of(engine, home, {"A": [2] * 12, "ä": [1] * 12, "ö": [3] * 12})
    figures = [block.name for block in build_report(results, {}).sections[2].blocks]
    assert figures[3:] == ["topics-2-unnamed", "topics-3-unnamed"]


def test_rankings_stand_side_by_side_where_the_best_helped_and_hurt_most(engine, home):
    results = results_of(engine, home, {"A": [3] + [2] * 10 + [1], "B": [1] * 11 + [2]})
    helped, also_helped, hurt = build_report(results, {}).sections[3].blocks
    # By hand: q0 gains 2/3, q1 as the first of many ½, q11 loses ½.
    assert helped.caption == "B helped topic q0, “word0”: RR .3333 → 1.0000."
    assert also_helped.caption.startswith("B helped topic q1,")
    assert hurt.caption.startswith("B hurt topic q11,")
    assert [(e.rank, e.docno, e.grade, e.other_rank) for e in helped.right] == [
        (1, "d0-0", 1, 3),
        (2, "d0-1", None, 1),
        (3, "d0-2", None, 2),
    ]
    assert helped.left[2].title == "word0"
    assert "told here" in helped.left[2].snippet


# -- pieces


def test_tables_and_runs_are_kept_as_they_are(tmp_path):
    cache = Cache(tmp_path / "cache")
    table = FeatureTable(["a", "b"], ["1", "1", "2"], ["x", "ÿ", ""], [[1, np.nan], [2, 3], [4, 5]], [0, 2, 1])
    store_table(cache, "k", table)
    assert load_table(cache, "k").equals(table)
    assert load_table(cache, "other") is None
    rankings = [Ranking("1", ["x", "ÿ"], [2.5, -1.0]), Ranking("2", [], []), Ranking("3", ["z"], [1e-300])]
    store_run(cache, "k", rankings, {"seconds": 1.5})
    assert load_run(cache, "k", ["1", "2", "3"]) == (rankings, {"seconds": 1.5})
    assert load_run(cache, "k", ["1", "2"]) is None


@pytest.mark.parametrize("name", ["../precious.txt", "/precious.txt", "link/precious.txt"])
def test_files_outside_the_results_are_not_removed(home, name):
    folder = run(home).folder
    (home / "precious.txt").write_text("precious")
    (folder / "link").symlink_to(home)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name if name[0] != "/" else str(home / "precious.txt")] = 8
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (home / "plan.toml").write_text(PLAN[: PLAN.index('[[systems]]\nname = "tuned"')])
    run(home)
    assert (home / "precious.txt").read_text() == "precious"


def test_fingerprints_tell_values_apart_and_orders_of_names_not():
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert len({fingerprint(*parts) for parts in ([1], [1.5], ["1"], [[1]], [1, 1], [None])}) == 6


def test_the_manifest_is_plain_json(home):
    run(home)
    assert json.loads((home / "out" / "manifest.json").read_text())["format"] == "searchlab experiment 1"
