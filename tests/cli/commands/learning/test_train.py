import os
import re
import sys

import pytest

from searchlab import extensions
from searchlab.features.feature_sets import DEFAULT_SET, FEATURE_SETS
from searchlab.rankers.bundle import load_bundle
from searchlab.rankers.ranker_registry import RANKERS
from tests.cli.commands.trained_models import table_of


def test_training_from_an_index_prints_what_was_learnt_and_whether_it_helps(collection, run_cli):
    code, out, err = run_cli(
        "train", "--ranker", "rsvm-ir", "--folds", 3, "--parts", 2, "--prior", "none", "-o", "model.json"
    )
    assert code == 0, err
    # 5 subjects of 5 documents; each is also named in passing by the 5 of another subject; word1 is in further ones.
    assert re.search(
        r"^trained on +5 topics, \d+ documents \(10 of grade 2, 5 of grade 1, \d+ of grade 0\), ", out, re.M
    )
    assert f"{len(FEATURE_SETS[DEFAULT_SET])} features; 1 topic without a relevant document left out" in out
    assert re.search(r"^chosen +C = .*: the 5 best of 16 values, averaged$", out, re.M)
    assert "by 2 parts of the training queries in turn: nDCG@10 " in out
    assert re.search(r"^recipe +tuned: no powers, average over the 5 best values of C, τ from NDCG@10$", out, re.M)
    certified = r"^certified +each of the 5 averaged members is certified: largest relative gap \d\.\de-\d\d$"
    assert re.search(certified, out, re.M)
    means = load_bundle("model.json").trial["means"]
    rows = {row[0]: row[1:] for row in table_of(out, "nDCG@10")}
    assert rows == {name: [f"{mean:.4f}".lstrip("0") for mean in row.values()] for name, row in means.items()}
    assert list(rows) == ["rsvm-ir, tuned", "BM25", "RM3", "the built-in model"]
    assert load_bundle("model.json").trial["verdict"] in out
    assert out.endswith("\nmodel written to model.json\n")
    assert "query QUERY --rerank model.json" in err


def test_learning_starts_from_the_built_in_model_or_from_the_model_of_another_library(collection, run_cli):
    code, out, err = run_cli("train", "--ranker", "rsvm-ir", "--folds", 0, "-o", "first.json")
    assert code == 0, err
    assert re.search(r"^recipe +tuned: .*, learning starts from builtin, whose share is \d+ %$", out, re.M)
    assert re.search(r"^chosen +C = .*: the 5 best of 16 values, averaged$", out, re.M)
    code, out, err = run_cli("train", "--folds", 0, "--prior", "first.json", "-o", "second.json")
    assert code == 0, err
    assert load_bundle("second.json").recipe["prior"]["name"] == "first.json"
    code, _, err = run_cli("train", "--folds", 0, "--prior", "first.json", "--features", "table1", "-o", "third.json")
    assert code == 2
    assert "prior first.json: it needs score.both.bm25, " in err
    code, _, err = run_cli("train", "--prior", "builtin", "--ranker", "rankboost", "-o", "third.json")
    assert code == 2
    assert "a prior for rankboost, expected softmax, a Ranking SVM with solver=qp, or prior none" in err


def test_a_model_that_is_trained_again_is_compared_with_the_former_one(collection, run_cli):
    options = ["train", "--folds", 5, "--parts", 2, "--repeats", 1, "--features", "table1", "--prior", "none"]
    code, first, _ = run_cli(*options, "--ranker", "rsvm", "--set", "C=0.1", "-o", "model.json")
    assert (code, "former" in first) == (0, False)
    before = (collection / "model.json").read_bytes()
    # The same again: there is nothing to compare, and the file is the same.
    code, again, err = run_cli(*options, "--ranker", "rsvm", "--set", "C=0.1", "-o", "model.json")
    reason = "settings and topics are the same and only judgments can have changed"
    assert f"The new model cannot be compared with the former one, as {reason}.\n" in again
    assert "--if-better" not in err
    assert (collection / "model.json").read_bytes() == before
    code, other, _ = run_cli(*options, "--ranker", "single", "--if-better", "-o", "model.json")
    assert code == 0
    found = re.search(r"^The new model is (as good as|not better than|better than) the former one: .*\.$", other, re.M)
    assert (
        "on 5 held-out topics in the same folds (the former settings and the new ones learnt from the same topics)"
        in found.group()
    )
    rows = dict(re.findall(r"^ +(the new model|the former model) +([.\d]+)$", other[found.end() :], re.M))
    assert list(rows) == ["the new model", "the former model"]
    assert "the verdict on the former model, in its time: 5 topics with a relevant document are too few" in other
    is_better = found.group().startswith("The new model is better")
    assert is_better == (rows["the new model"] > rows["the former model"])
    assert ((collection / "model.json").read_bytes() == before) != is_better
    assert ("model.json is as it was" in other) != is_better
    code, _, err = run_cli("train", "x.txt", "--if-better", "-o", "model.json")
    assert (code, "--if-better is for training from an index" in err) == (2, True)


def test_training_from_a_file_chooses_by_the_validation_set(collection, run_cli):
    run_cli("features", "--features", "table1", "-o", "all.txt")
    lines = (collection / "all.txt").read_text().splitlines(keepends=True)
    (collection / "train.txt").write_text("".join(line for line in lines if "qid:5" not in line))
    (collection / "valid.txt").write_text(lines[0] + "".join(line for line in lines if "qid:5" in line))
    code, out, err = run_cli("train", "train.txt", "--valid", "valid.txt", "--folds", 4, "-o", "m.json")
    assert code == 0, err
    assert "by the validation set: AP " in out
    assert [row[0] for row in table_of(out, "AP")] == ["rsvm-ir, tuned", "the best single feature"]
    bundle = load_bundle("m.json")
    assert (bundle.first_stage, bundle.preprocessor.powers, bundle.choice["dialect"]) == (None, True, "letor3")
    assert "searchlab rerank m.json" in err


def test_a_kernel_machine_that_learns_from_a_sample_says_so(collection, run_cli):
    run_cli("features", "--features", "table1", "-o", "all.txt")
    n_rows = (collection / "all.txt").read_text().count(" qid:")
    options = ["train", "all.txt", "--ranker", "svm", "--set", "kernel=sigmoid", "--set", "C=0.1", "--folds", 2]
    sampled = rf"^sampled +only 10 of {n_rows} documents, as max_rows says$"
    code, out, err = run_cli(*options, "--set", "max_rows=10", "-o", "m.json")
    assert code == 0, err
    assert re.search(sampled, out, re.M)
    assert re.search(sampled, run_cli("model", "show", "m.json")[1], re.M)
    assert "sampled" not in run_cli(*options, "-o", "m.json")[1]


def test_the_same_seed_gives_the_same_file_and_another_one_another(collection, run_cli):
    options = ["train", "--features", "table1", "--folds", 2, "--parts", 2]
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        assert run_cli(*options, "--seed", seed, "-o", f"{name}.json")[0] == 0
    a, b, c = ((collection / f"{name}.json").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_coinciding_categories_of_queries_are_printed_as_a_warning(collection, run_cli):
    run_cli("features", "--features", "table1", "-o", "graded.txt")
    lines = (collection / "graded.txt").read_text().splitlines(keepends=True)
    (collection / "binary.txt").write_text("".join("1" + line[1:] if line[:1] == "2" else line for line in lines))
    options = ["--ranker", "rankboost-qd", "--set", "decay=1", "--folds", 0, "-o", "m.json"]
    warning = r"^warning +by grades, the losses of all categories coincide in all training queries: "
    for name, more, is_warned in (
        ("binary.txt", ["--set", "losses=grades"], True),
        ("binary.txt", ["--set", "transactional_depth=2"], False),
        ("graded.txt", ["--set", "losses=grades"], False),
    ):
        code, out, err = run_cli("train", name, *options, *more)
        assert code == 0, err
        shown = run_cli("model", "show", "m.json")[1]
        assert [bool(re.search(warning, text, re.M)) for text in (out, shown)] == [is_warned] * 2


def test_a_model_that_cannot_be_written_is_refused_before_it_is_trained(collection, run_cli):
    run_cli("features", "--features", "table1", "-o", "all.txt")
    for source in ([], ["all.txt"]):
        code, out, err = run_cli("train", *source, "--ranker", "rsvm-knn", "--set", "variant=online", "-o", "m.json")
        assert (code, out) == (2, "")
        assert "a model of rsvm-knn (variant=online) cannot be written to a file" in err
        assert not (collection / "m.json").exists()


def test_rankers_are_listed_with_their_settings(run_cli):
    code, out, _ = run_cli("train", "--list")
    assert code == 0
    lines = out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("rsvm-ir "))
    assert "RSVM-IR" in lines[first]
    assert lines[first + 1].split() == [
        *("C=chosen,", "depth=1,", "draws=null,", "max_iterations=5000,", "mu=true,"),
        *("prior=null,", "seed=0,", 'solver="qp",'),
        *("step=null,", "tau=true,", 'tau_queries="all",', "tolerance=1e-05"),
    ]
    assert lines[first + 2].strip() == (
        "tuned: powers of the features, average over the 5 best values of C, τ from NDCG@1; "
        "paper: no powers, one value of C, τ from NDCG@1"
    )
    boosting = next(number for number, line in enumerate(lines) if line.startswith("rankboost "))
    assert lines[boosting + 2].strip() == "both recipes: no powers, one value of rounds"


def test_the_recipe_is_chosen_and_what_is_given_is_named(collection, run_cli):
    options = ["train", "--ranker", "rsvm-ir", "--features", "table1", "--folds", 2, "--parts", 2, "-o", "m.json"]
    code, out, err = run_cli(*options, "--recipe", "paper")
    assert code == 0, err
    assert re.search(r"^recipe +paper: no powers, one value of C, τ from NDCG@1$", out, re.M)
    assert re.search(r"^chosen +C = \S+: the best of 16 values$", out, re.M)
    assert re.search(r"^certified +within \d\.\de-\d\d of the best possible objective", out, re.M)
    assert list(load_bundle("m.json").trial["means"]) == ["rsvm-ir", "BM25", "RM3"]
    code, out, err = run_cli(*options, "--powers", "--n-best", 2)
    assert code == 0, err
    assert "rsvm-ir, tuned, powers, average of 2 " in out
    code, out, err = run_cli("model", "show", "m.json")
    assert re.search(r"^recipe +tuned: powers of the features, average over the 2 best values of C, τ from", out, re.M)
    code, out, err = run_cli(*options, "--recipe", "papers")
    assert code == 2
    assert "unknown recipe 'papers' (did you mean paper?)" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("", 2, "nowhere to write the model: expected -o FILE"),
        ("-o -", 2, "expected -o with a file"),
        ("-o gone/m.json", 1, "gone/m.json: cannot be written (no such folder)"),
        ("-o m.json --ranker rsvmir", 2, "unknown ranker 'rsvmir' (did you mean rsvm-ir?)"),
        ("-o m.json --set D=1", 2, "unknown setting of softmax 'D'"),
        ("-o m.json --set C", 2, "--set C: expected NAME=VALUE, such as C=0.01"),
        ("-o m.json --set C=NaN", 2, "softmax: C is nan, expected a number above 0"),
        ("-o m.json --measure nDGC@10", 2, "unknown measure"),
        ("-o m.json --folds 1", 2, "folds is 1, expected 0, or a whole number from 2"),
        ("-o m.json --seed -1", 2, "seed is -1, expected a whole number from 0"),
        ("-o m.json --features semantics", 2, "unknown feature set 'semantics' (did you mean semantic?)"),
        ("-o m.json --scorer bm26", 2, "unknown scorer 'bm26'"),
        ("-o m.json -k 0", 2, "k is 0, expected"),
        ("-o m.json --topics mine/topics.tsv", 2, "no judgments to learn from: expected --qrels"),
        ("-o m.json --valid flat.txt", 2, "--valid goes with TRAIN, expected a LETOR file"),
        ("flat.txt -o m.json -k 20", 2, "-k is for training from an index, expected no TRAIN"),
        ("flat.txt -o m.json --index mine", 2, "--index is for training from an index, expected no TRAIN"),
        ("flat.txt -o m.json", 2, "none of 4 queries has documents of different grades"),
        ("bad.txt -o m.json", 1, "bad.txt:2: expected a finite number or NULL as feature 1, found 'inf'"),
        ("few.txt -o m.json", 2, "1 query to cross-validate with, expected at least 4, or 0 folds"),
        ("few.txt -o m.json --folds 0", 2, "1 query to train with, expected at least 2"),
        ("few.txt --valid other.txt -o m.json --folds 0", 2, "tables differ in their features"),
        ("few.txt --valid few.txt -o m.json", 2, "query 1 is in the training set and in the validation set"),
    ],
)
def test_a_mistake_in_training_ends_in_one_line_and_leaves_no_file(collection, run_cli, arguments, code, message):
    (collection / "flat.txt").write_text("".join(f"0 qid:{q} 1:0.{d} #docid = {d}\n" for q in "1234" for d in "12"))
    (collection / "bad.txt").write_text("0 qid:1 1:0.5 #docid = a\n1 qid:1 1:inf #docid = b\n")
    (collection / "few.txt").write_text("0 qid:1 1:0.5 #docid = a\n1 qid:1 1:0.7 #docid = b\n")
    (collection / "other.txt").write_text("0 qid:2 1:0.5 2:1 #docid = a\n1 qid:2 1:0.7 2:1 #docid = b\n")
    before = sorted(path.name for path in collection.iterdir())
    found, out, err = run_cli("train", *arguments.split())
    assert (found, out) == (code, "")
    assert message in err.splitlines()[-1]
    assert sorted(path.name for path in collection.iterdir()) == before


def interrupted(text):
    raise KeyboardInterrupt


def interrupted_while_compiled(text):
    try:
        interrupted(text)
    except KeyboardInterrupt as error:
        raise SystemError("returned a result with an exception set") from error


@pytest.mark.parametrize("ending", [interrupted, interrupted_while_compiled])
def test_an_interrupted_training_leaves_the_old_model(collection, run_cli, model, monkeypatch, ending):
    before = (collection / model).read_bytes()
    monkeypatch.setattr("searchlab.rankers.bundle.compact_numbers", ending)
    code, out, err = run_cli("train", "--features", "table1", "--folds", 0, "-o", model)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "searchlab: interrupted"
    assert (collection / model).read_bytes() == before
    assert [path.name for path in collection.iterdir() if path.name.startswith(".")] == []


def test_too_few_topics_with_relevant_documents_are_refused(collection, run_cli):
    (collection / "qrels.txt").write_text("1 0 heat-0 1\n2 0 wing-0 1\n")
    code, _, err = run_cli("train", "--topics", "mine/topics.tsv", "--qrels", "qrels.txt", "-o", "m.json")
    assert code == 2
    assert "2 of 6 topics have a relevant document, expected at least 4" in err


OWN = """
import searchlab
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

@searchlab.ranker("own.ridge")
def ridge(strength=1.0):
    "my ridge"
    return Ridge(alpha=strength)

@searchlab.ranker("own.tree")
def tree(depth=2):
    return DecisionTreeRegressor(max_depth=depth, random_state=0)
"""


@pytest.fixture
def own_rankers(collection, monkeypatch):
    (collection / "own_rankers.py").write_text(OWN)
    monkeypatch.setattr(extensions, "ORIGINS", {})
    monkeypatch.setattr(extensions, "_LOADED", {})
    monkeypatch.delenv(extensions.ENVIRONMENT, raising=False)
    before = dict(RANKERS)
    yield ("--extension", "own_rankers.py")
    RANKERS.clear()
    RANKERS.update(before)
    sys.modules.pop("own_rankers", None)
    os.environ.pop(extensions.ENVIRONMENT, None)


def test_a_ranker_of_an_extension_is_trained_by_its_name(own_rankers, run_cli):
    run_cli("features", "--features", "table1", "-o", "all.txt")
    train = (*own_rankers, "train", "all.txt", "--ranker")
    code, out, err = run_cli(*train, "own.ridge", "--set", "strength=3", "-o", "m.json")
    assert code == 0, err
    assert re.search(r"^model +own\.ridge: my ridge$", out, re.M)
    bundle = load_bundle("m.json")
    assert (bundle.ranker, bundle.settings["alpha"], bundle.model.kind) == ("own.ridge", 3, "linear")
    assert bundle.training["extension"]["module"] == "own_rankers"
    code, out, _ = run_cli(*own_rankers, "train", "--list")
    assert re.search(r"^own\.ridge +my ridge\n +strength=1\.0\n", out, re.M)
    code, out, err = run_cli(*train, "own.tree", "-o", "t.json")
    assert (code, out) == (2, "")
    assert "a model of own.tree cannot be written to a file" in err


def test_lambdamart_is_trained_shown_and_explained(collection, run_cli):
    run_cli("features", "--features", "table1", "-o", "all.txt")
    settings = ("--set", "trees=15", "--set", "min_rows=3", "--impute", "none")
    code, out, err = run_cli("train", "all.txt", "--ranker", "lambdamart", *settings, "--folds", 0, "-o", "m.json")
    assert code == 0, err
    code, out, err = run_cli("model", "show", "m.json")
    assert re.search(r"^solved +15 trees$", out, re.M)
    assert "undefined values stay undefined" in out
    assert "importance, the largest first" in out
    shares = [float(share) for share in re.findall(r" (\d+\.\d) % +\d+$", out, re.M)]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert shares == sorted(shares, reverse=True)
    assert run_cli("rerank", "m.json", "all.txt", "-o", "run.txt")[0] == 0
