"""Plans of experiments: read as written, and every mistake refused in one line."""

from pathlib import Path

import pytest

from searchlab.errors import SettingError, SourceError
from searchlab.experiments.inputs import deal_topics
from searchlab.experiments.plan import FoldPlan, SystemPlan, grid_points, make_slug
from searchlab.experiments.plan_file import read_plan
from searchlab.retrieval.expansion import RM3

SCORER = '[[systems]]\nscorer = "bm25"\n'
EVERYTHING = """
title = "All keys"
index = "../indexes/it"
collection = "docs"
topics = "t.tsv"
qrels = "/abs/q.txt"
output = "out"
measures = ["AP", "nDCG@5"]
dialect = "paper"
baseline = "tuned"
seed = 7

[folds]
number = 3

[first_stage]
scorer = "dirichlet"
settings = {mu = 500}
k = 20
rm3 = false

[features]
names = ["letor.both.bm25", "letor.title.tf"]

[[systems]]
name = "tuned"
scorer = "bm25"
settings = {k1 = 0.9}
grid = {b = [0.3, 0.75]}

[[systems]]
scorer = "bm25"
rm3 = {terms = 5}

[[systems]]
ranker = "rsvm-ir"
settings = {C = 0.1}
features = "letor45"
parts = 3
impute = "zero"
normalise = "query-zscore"
powers = true

[[systems]]
name = "short"
ranker = "rankboost"
features = ["letor.title.tf"]
"""


@pytest.fixture
def write(tmp_path):
    def write_plan(text: str) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_plan


def test_all_keys_of_a_plan_are_read(write, tmp_path):
    plan = read_plan(write(EVERYTHING))
    assert (plan.title, plan.measures, plan.measure, plan.dialect) == ("All keys", ("AP", "nDCG@5"), "AP", "paper")
    assert (plan.baseline, plan.seed, plan.folds) == ("tuned", 7, FoldPlan(3, 7))
    # Relative to the file; an absolute path stays.
    assert plan.index == str(tmp_path.parent / "indexes" / "it")
    assert (plan.topics, plan.qrels, plan.output) == (tmp_path / "t.tsv", Path("/abs/q.txt"), tmp_path / "out")
    assert plan.first_stage.to_json() == {"k": 20, "scorer": "dirichlet", "settings": {"mu": 500}, "expanded": False}
    tuned, expanded, svm, boost = plan.systems
    assert tuned.points() == [{"k1": 0.9, "b": 0.3}, {"k1": 0.9, "b": 0.75}]
    assert (expanded.name, expanded.expansion) == ("RM3", RM3(terms=5))
    assert (svm.recipe.settings, svm.recipe.n_parts, svm.recipe.powers) == ({"C": 0.1}, 3, True)
    assert (svm.recipe.imputation, svm.recipe.normalisation) == ("zero", "query-zscore")
    # Settings are chosen by the measure and the dialect of the experiment.
    assert (svm.recipe.measure, svm.recipe.dialect, svm.recipe.seed) == ("AP", "paper", 7)
    assert (len(svm.features), boost.features.names) == (45, ("letor.title.tf",))
    assert [system.name for system in plan.rankers] == ["rsvm-ir, tuned, powers", "short"]


def test_a_ranker_is_trained_by_the_recipe_of_its_section(write):
    rankers = "".join(
        f'[[systems]]\nranker = "rsvm-ir"\n{line}\n'
        for line in ("", 'recipe = "paper"', "n_best = 3", 'recipe = "paper"\nname = "mine"\npowers = true')
    )
    plan = read_plan(write('index = "it"\n' + rankers))
    assert [system.name for system in plan.systems] == [
        "rsvm-ir, tuned",
        "rsvm-ir",
        "rsvm-ir, tuned, average of 3",
        "mine",
    ]
    # The default measure is nDCG@10; candidates of a search get no powers.
    assert [(each.recipe.rules.n_averaged, each.recipe.rules.tau_depth) for each in plan.systems] == [
        *((5, 10), (1, 1), (3, 10), (1, 1))
    ]
    assert [each.recipe.rules.powers for each in plan.systems] == [False, False, False, True]
    assert plan.systems[1].describe().endswith("; recipe paper: no powers, one value of C, τ from NDCG@1")
    assert plan.systems[3].to_json()["recipe"]["label"] == "rsvm-ir, powers"
    with pytest.raises(SourceError, match=r"systems 1.*recipe: unknown recipe 'best'"):
        read_plan(write('index = "it"\n[[systems]]\nranker = "rsvm"\nrecipe = "best"\n'))


def test_missing_keys_have_defaults(write, tmp_path):
    plan = read_plan(write('index = "it"\n' + SCORER))
    assert (plan.title, plan.output, plan.index) == ("plan", tmp_path / "results" / "plan", "it")
    assert (plan.folds, plan.baseline, plan.seed) == (FoldPlan(5, 0), "BM25", 0)
    assert plan.systems == (SystemPlan("BM25", "bm25"),)


def test_the_bundled_example_is_a_plan():
    plan = read_plan(Path(__file__).parents[2] / "examples" / "medical.toml")
    assert [system.name for system in plan.systems] == [
        "BM25",
        "Dirichlet",
        "RM3",
        "RSVM-IR",
        "RSVM-IR tuned",
        "RankBoost",
    ]
    assert plan.collection.is_dir()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('indx = "a"\n' + SCORER, "indx: unknown key (did you mean index?), expected "),
        ("[folds]\nnumber = 'five'\n" + SCORER, "[folds] number: found 'five', expected a whole number from 2"),
        ("[folds]\nnumber = true\n" + SCORER, "[folds] number: found True, expected a whole number from 2"),
        ("[folds]\nnumber = 1\n" + SCORER, "[folds] number: found 1, expected a whole number from 2"),
        (
            "[folds]\nnumbr = 5\n" + SCORER,
            "[folds] numbr: unknown key (did you mean number?), expected number, seed, queries or file",
        ),
        ("folds = 5\n" + SCORER, "folds: found 5, expected a section [folds]"),
        ('[folds]\nnumber = 2\nqueries = [["1"], ["2"]]\n' + SCORER, "[folds]: found several definitions of the folds"),
        ('[folds]\nqueries = [["1", "2"], ["2"]]\n' + SCORER, "[folds] queries: found topic 2 in fold 1 and 2"),
        ('[folds]\nqueries = [["1", "2"]]\n' + SCORER, "[folds] queries: found 1 fold, expected at least 2"),
        ('[folds]\nqueries = ["1"]\n' + SCORER, "[folds] queries: found ['1'], expected a list of lists of qids"),
        ('[folds]\nfile = "none.txt"\n' + SCORER, "[folds] file: "),
        ("measures = []\n" + SCORER, "measures: found [], expected a list of texts, at least one"),
        ('measures = ["nDCGG@10"]\n' + SCORER, "measures: unknown measure 'nDCGG@10' (did you mean nDCG@10"),
        ('measures = ["AP,official"]\n' + SCORER, "measures: measure num_q is a total over topics"),
        ('measures = ["NumRet"]\n' + SCORER, "measures: measure NumRet is a total over topics"),
        ('dialect = "trek"\n' + SCORER, "dialect: unknown dialect 'trek' (did you mean trec?)"),
        ('baseline = "BM52"\n' + SCORER, "baseline: unknown system 'BM52' (did you mean BM25?)"),
        ("seed = -1\n" + SCORER, "seed: found -1, expected a whole number from 0"),
        ('topics = "t"\n' + SCORER, "qrels: missing, but topics is given; expected both or neither"),
        ('index = "a"\n', "systems: found none, expected at least one [[systems]]"),
        ("systems = 3\n", "systems: found 3, expected sections [[systems]]"),
        (SCORER + SCORER, "[systems 2] name: found 'BM25' and 'BM25', expected distinct names"),
        (SCORER + '[[systems]]\nname = "bm25"\nscorer = "jm"', "[systems 2] name: found 'bm25' and 'BM25'"),
        ('[[systems]]\nname = "?"\nscorer = "jm"', "[systems 1] name: found '?', expected a name with a letter"),
        ('[[systems]]\nname = "x"\n', "[systems 1]: found neither scorer nor ranker, expected one of them"),
        (SCORER + 'ranker = "rsvm"\n', "[systems 1]: found both scorer and ranker, expected one of them"),
        (SCORER + "settings = {k2 = 1}\n", "[systems 1] settings: unknown setting of bm25 'k2'; there is: b, idf, k1"),
        (SCORER + "settings = {k1 = [1]}\n", "[systems 1] settings: found {'k1': [1]}, expected settings such as"),
        (SCORER + "grid = {k1 = 1}\n", "[systems 1] grid: found {'k1': 1}, expected lists of values"),
        (SCORER + "grid = {k1 = [-1]}\n", "[systems 1] grid: "),
        (SCORER + "settings = {b = 0}\ngrid = {b = [1]}\n", "[systems 1] grid: found b, which is in settings too"),
        ('[[systems]]\nscorer = "bm52"\n', "[systems 1] scorer: unknown scorer 'bm52' (did you mean bm25?)"),
        (SCORER + "rm3 = 3\n", "[systems 1] rm3: found 3, expected a section [rm3]"),
        (SCORER + "rm3 = {weight = 2}\n", "[systems 1.rm3] weight: found 2, expected a number from 0 to 1"),
        (SCORER + "rm3 = {term = 2}\n", "[systems 1.rm3] term: unknown key (did you mean terms?)"),
        (SCORER + "parts = 3\n", "[systems 1] parts: unknown key"),
        ('[[systems]]\nranker = "rsvmir"\n', "[systems 1] ranker: unknown ranker 'rsvmir' (did you mean rsvm-ir?)"),
        (
            '[[systems]]\nranker = "rsvm"\nsettings = {C = "a"}\n',
            "[systems 1] settings: rsvm: C is 'a', expected a number above 0",
        ),
        ('[[systems]]\nranker = "rsvm"\nfeatures = "all"\n', "[systems 1] features: unknown feature set 'all'"),
        ('[[systems]]\nranker = "rsvm"\nimpute = "water"\n', "[systems 1]: unknown "),
        ("[first_stage]\nk = 0\n" + SCORER, "[first_stage] k: found 0, expected a whole number from 1"),
        ('[first_stage]\nscorer = "bm52"\n' + SCORER, "[first_stage]: unknown scorer 'bm52' (did you mean bm25?)"),
        ('[features]\nset = "semantik"\n' + SCORER, "[features] set: unknown feature set 'semantik'"),
        ('[features]\nset = "full"\nnames = ["a"]\n' + SCORER, "[features]: found set and names"),
        ("index =\n", "not a TOML file ("),
        (f"seed = {'9' * 5000}\n", "not a TOML file (Exceeds the limit"),
        (f"seed = {'[' * 100_000}\n", "not a TOML file ("),
        ('"a\\nb" = 1\n' + SCORER, "a b: unknown key"),
    ],
)
def test_a_mistake_is_refused_with_its_location(write, text, message):
    path = write(text)
    with pytest.raises(SourceError) as caught:
        read_plan(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_a_missing_plan_is_refused(tmp_path):
    with pytest.raises(SourceError, match=r"none\.toml: cannot be read \(No such file or directory\)"):
        read_plan(tmp_path / "none.toml")


def test_folds_can_be_read_from_a_file(write, tmp_path):
    (tmp_path / "folds.txt").write_text("a 1\nb 2\n\nc 1\n")
    assert read_plan(write('[folds]\nfile = "folds.txt"\n' + SCORER)).folds.queries == (("a", "c"), ("b",))
    (tmp_path / "folds.txt").write_text("a 1\nb\n")
    with pytest.raises(SourceError, match=r"\[folds\] file: .*folds\.txt:2: found 1 columns, expected 2"):
        read_plan(write('[folds]\nfile = "folds.txt"\n' + SCORER))


def test_each_topic_is_in_one_fold():
    qids = [f"q{number}" for number in range(11)]
    folds = deal_topics(FoldPlan(3, 5), qids, qids)
    assert sorted(qid for fold in folds for qid in fold) == sorted(qids)
    assert sorted(map(len, folds)) == [3, 4, 4]
    assert deal_topics(FoldPlan(3, 5), qids, qids) == folds
    assert deal_topics(FoldPlan(3, 6), qids, qids) != folds


def test_listed_folds_must_cover_the_topics():
    # Topic x exists, but has no relevant document.
    listed = FoldPlan(queries=(("c", "x"), ("a", "b")))
    assert deal_topics(listed, ["a", "b", "c"], ["a", "b", "c", "x"]) == (("c",), ("a", "b"))
    with pytest.raises(SettingError, match="topics that do not exist: x"):
        deal_topics(listed, ["a", "b", "c"], ["a", "b", "c"])
    with pytest.raises(SettingError, match="found no fold with d,"):
        deal_topics(listed, ["a", "d"], ["a", "b", "c", "d", "x"])
    with pytest.raises(SettingError, match="no topic with a relevant document in fold 1"):
        deal_topics(listed, ["a", "b"], ["a", "b", "c", "x"])


def test_a_grid_has_all_combinations():
    points = grid_points({"idf": "plain"}, {"k1": (1, 2), "b": (0, 1)})
    assert points == [{"idf": "plain", "k1": k1, "b": b} for k1 in (1, 2) for b in (0, 1)]
    assert grid_points({"k1": 1}, {}) == [{"k1": 1}]
    with pytest.raises(SettingError, match="the grid has 1,001 points, expected at most 1,000"):
        grid_points({}, {"k1": tuple(range(1001))})


def test_names_become_names_of_files():
    assert [make_slug(name) for name in ("RSVM-IR", "BM25 + RM3", "../x/", "Ö 1")] == [
        "rsvm-ir",
        "bm25-rm3",
        "x",
        "ö-1",
    ]
