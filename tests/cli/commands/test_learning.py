"""Can a re-ranker be trained, looked at, used and questioned from the command line, and are mistakes told?"""

import json
import math
import re
import shutil

import pytest

import searchlab
from searchlab.rankers.bundle import load_bundle

SUBJECTS = ["heat", "wing", "cell", "prison", "river"]
MODELS = {
    "rsvm-ir": ["--set", "C=0.5"],
    "bent": ["--bend", "powers", "--set", "C=0.5"],
    "ordrank": ["--ranker", "ordrank", "--set", "C=0.5"],
    "rankboost": ["--ranker", "rankboost", "--set", "rounds=5"],
    "svm": ["--ranker", "svm", "--set", "kernel=rbf", "--set", "C=1"],
}


def make_collection(folder):
    """Five topics; of each subject some documents say much (grade 2), some a little (1), some it in passing (0)."""
    folder.mkdir()
    documents, qrels = [], []
    for number, subject in enumerate(SUBJECTS):
        other = SUBJECTS[(number + 1) % len(SUBJECTS)]
        for place, (n, filler, grade) in enumerate([(4, 3, 2), (3, 9, 2), (2, 9, 1), (1, 4, 0), (1, 15, 0)]):
            docno = f"{subject}-{place}"
            words = [subject] * n + [f"word{(number * 7 + place + step) % 23}" for step in range(filler)] + [other]
            documents.append({"docno": docno, "title": subject if place % 2 else "", "body": " ".join(words)})
            qrels.append(f"{number + 1} 0 {docno} {grade}")
    (folder / "docs.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    (folder / "topics.tsv").write_text("".join(f"{n + 1}\t{s} word1\n" for n, s in enumerate(SUBJECTS)) + "6\tword2\n")
    (folder / "qrels.txt").write_text("\n".join(qrels) + "\n6 0 heat-1 0\n")


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The collection, indexed once."""
    home = tmp_path_factory.mktemp("learning")
    make_collection(home / "mine")
    searchlab.index(home / "mine", home / "indexes" / "mine", jobs=1)
    return home


@pytest.fixture
def collection(tmp_path, run_cli, made):
    """A working folder with an indexed collection of judged topics."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def train(run_cli):
    """Train from the index, quickly: fixed settings, no cross-validation, seven features."""

    def call(name, *options):
        chosen = MODELS.get(name, [])
        code, out, err = run_cli("train", "--features", "table1", "--folds", 0, *chosen, *options, "-o", f"{name}.json")
        assert code == 0, err
        return out

    return call


@pytest.fixture
def model(collection, train):
    """The name of a linear model."""
    train("rsvm-ir")
    return "rsvm-ir.json"


def table_of(out, first):
    """The lines of a printed table from its header on, until a blank one."""
    lines = out.splitlines()
    begin = next(place for place, line in enumerate(lines) if line.split()[:1] == [first])
    rows = []
    for line in lines[begin + 1 :]:
        if not line.strip():
            break
        rows.append(re.split(r"\s{2,}", line.strip()))
    return rows


def in_units(text):
    """A number of four digits after the point, exactly."""
    return round(float(text) * 10_000)


def test_training_from_an_index_tells_what_was_learnt_and_whether_it_helps(collection, run_cli):
    code, out, err = run_cli("train", "--folds", 3, "--parts", 2, "-o", "model.json")
    assert code == 0, err
    # 5 subjects of 5 documents; each is also named in passing by the 5 of another subject; word1 is in further ones.
    assert re.search(
        r"^trained on +5 topics, \d+ documents \(10 of grade 2, 5 of grade 1, \d+ of grade 0\), ", out, re.M
    )
    assert "54 features; 1 topic without a relevant document left out" in out
    assert re.search(r"^chosen +C = .*: the 5 best of 16 values, averaged$", out, re.M)
    assert "by 2 parts of the training queries in turn: nDCG@10 " in out
    assert re.search(r"^certified +within \d\.\de-\d\d of the best possible objective", out, re.M)
    means = load_bundle("model.json").trial["means"]
    rows = {row[0]: row[1:] for row in table_of(out, "nDCG@10")}
    assert rows == {name: [f"{own[m]:.4f}".lstrip("0") for m in own] for name, own in means.items()}
    assert list(rows) == ["rsvm-ir", "BM25", "RM3"]
    assert load_bundle("model.json").trial["verdict"] in out
    assert out.endswith("\n→ model.json\n")
    assert "query QUERY --rerank model.json" in err


def test_training_from_a_file_chooses_by_the_validation_set(collection, run_cli):
    run_cli("features", "--set", "table1", "-o", "all.txt")
    lines = (collection / "all.txt").read_text().splitlines(keepends=True)
    (collection / "train.txt").write_text("".join(line for line in lines if "qid:5" not in line))
    (collection / "valid.txt").write_text(lines[0] + "".join(line for line in lines if "qid:5" in line))
    code, out, err = run_cli("train", "train.txt", "--valid", "valid.txt", "--folds", 4, "-o", "m.json")
    assert code == 0, err
    assert "by the validation set: AP " in out
    assert [row[0] for row in table_of(out, "AP")] == ["rsvm-ir", "the best single feature"]
    bundle = load_bundle("m.json")
    assert (bundle.first_stage, bundle.preprocessor.powers, bundle.choice["dialect"]) == (None, True, "letor3")
    assert "searchlab rerank m.json" in err


def test_the_same_seed_gives_the_same_file_and_another_one_another(collection, run_cli):
    options = ["train", "--features", "table1", "--folds", 2, "--parts", 2]
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        assert run_cli(*options, "--seed", seed, "-o", f"{name}.json")[0] == 0
    a, b, c = ((collection / f"{name}.json").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_rankers_are_listed_with_their_settings(run_cli):
    code, out, _ = run_cli("train", "--list")
    assert code == 0
    lines = out.splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("rsvm-ir "))
    assert "RSVM-IR" in lines[place]
    assert lines[place + 1].strip() == 'C=chosen, depth=1, draws=null, seed=0, solver="qp", tolerance=1e-05'


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("", 2, "nowhere to write the model: expected -o MODEL"),
        ("-o -", 2, "expected -o with a file"),
        ("-o gone/m.json", 1, "gone/m.json: cannot be written (no such folder)"),
        ("-o m.json --ranker rsvmir", 2, "unknown ranker 'rsvmir' (did you mean rsvm-ir?)"),
        ("-o m.json --set D=1", 2, "unknown setting of rsvm-ir 'D'"),
        ("-o m.json --set C", 2, "--set C: expected NAME=VALUE, such as C=0.01"),
        ("-o m.json --set C=NaN", 2, "rsvm-ir: C is nan, expected a number above 0"),
        ("-o m.json --measure nDGC@10", 2, "unknown measure"),
        ("-o m.json --folds 1", 2, "folds is 1, expected 0, or a whole number from 2"),
        ("-o m.json --seed -1", 2, "seed is -1, expected a whole number from 0"),
        ("-o m.json --features semantics", 2, "unknown feature set 'semantics' (did you mean semantic?)"),
        ("-o m.json --scorer bm26", 2, "unknown scorer 'bm26'"),
        ("-o m.json -k 0", 2, "k is 0, expected"),
        ("-o m.json --topics mine/topics.tsv", 2, "no judgments to learn from: expected --qrels"),
        ("-o m.json --valid flat.txt", 2, "--valid goes with TRAIN, expected a file"),
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
    monkeypatch.setattr("searchlab.rankers.bundle._compact", ending)
    code, out, err = run_cli("train", "--features", "table1", "--folds", 0, "-o", model)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "searchlab: interrupted"
    assert (collection / model).read_bytes() == before
    assert [path.name for path in collection.iterdir() if path.name.startswith(".")] == []


def test_topics_without_judgments_that_help_are_too_few(collection, run_cli):
    (collection / "qrels.txt").write_text("1 0 heat-0 1\n2 0 wing-0 1\n")
    code, _, err = run_cli("train", "--topics", "mine/topics.tsv", "--qrels", "qrels.txt", "-o", "m.json")
    assert code == 2
    assert "2 of 6 topics have a relevant document, expected at least 4" in err


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_shown_with_its_weights(collection, run_cli, train, name):
    train(name)
    code, out, _ = run_cli("model", "show", f"{name}.json")
    assert code == 0
    assert "index mine of 25 documents" in out
    assert "the 200 best by bm25 and the 200 best by RM3" in out
    assert "stemmer porter, stop list default" in out
    assert "scaled from 0, the smallest value of the query, to 1, its largest" in out
    assert "not cross-validated" in out
    model = load_bundle(f"{name}.json").model
    if name == "rsvm-ir":
        rows = table_of(out, "feature")
        assert [float(row[1]) for row in rows] == pytest.approx(
            sorted((w for w in model.weights.tolist() if w), key=abs, reverse=True), abs=5e-5
        )
    elif name == "bent":
        rows = {row[0]: list(map(float, row[1:])) for row in table_of(out, "feature")}
        assert re.search(r"feature +x +x² +√x +sum\n", out)
        place = list(load_bundle("bent.json").features).index("table1.both.log_tf")
        own = model.weights[[place, place + 7, place + 14]].tolist()
        assert rows["table1.both.log_tf"] == pytest.approx([*own, sum(own)], abs=5e-5)
    elif name == "ordrank":
        assert re.search(r"feature +grade 2 against 1 +grade 1 against 0\n", out)
        rows = {row[0]: list(map(float, row[1:])) for row in table_of(out, "feature")}
        assert rows["table1.both.log_tf"] == pytest.approx(
            model.planes[:, list(load_bundle("ordrank.json").features).index("table1.both.log_tf")], abs=5e-5
        )
    elif name == "rankboost":
        strongest = max(model.influences(), key=lambda part: abs(part.amount))
        feature = load_bundle("rankboost.json").features[strongest.feature]
        assert table_of(out, "rule")[0] == [f"{feature} {strongest.text}", f"{strongest.amount:+.4f}"]
    else:
        assert re.search(r"feature +slope\n", out)


def test_a_model_shows_only_the_most_influential_unless_all_are_wished_for(collection, run_cli, train):
    train("many", "--features", "letor45", "--set", "C=0.5")
    few, everything = (run_cli("model", "show", "many.json", *more)[1] for more in ([], ["--all"]))
    n_weights = sum(weight != 0 for weight in load_bundle("many.json").model.weights)
    assert len(table_of(few, "feature")) == 21
    assert f"and {n_weights - 20} more: --all shows them" in few
    assert len(table_of(everything, "feature")) == n_weights


def test_a_model_is_shown_as_json(model, run_cli):
    record = json.loads(run_cli("model", "show", model, "--json")[1])
    assert record["ranker"]["name"] == "rsvm-ir"
    assert record["influences"][0]["weight"] == max(record["model"]["weights"], key=abs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kept: "{", "not a JSON file"),
        (lambda kept: "[]", "not a model of searchlab: format is 'list'"),
        (lambda kept: json.dumps(kept | {"format": "searchlab model 9"}), "expected 'searchlab model 1'"),
        (lambda kept: json.dumps({key: kept[key] for key in kept if key != "model"}), "malformed model (KeyError"),
        (lambda kept: json.dumps(kept | {"model": {"kind": "linear", "weights": [1]}}), "has 1 features, expected 7"),
        (lambda kept: json.dumps(kept | {"model": {"kind": "linear", "weights": [math.nan] * 7}}), "malformed"),
        (lambda kept: json.dumps(kept | {"training": {"details": 3}}), "malformed model"),
    ],
)
def test_a_malformed_model_is_told_in_one_line(collection, model, run_cli, change, message):
    (collection / "bad.json").write_text(change(json.loads((collection / model).read_text())))
    code, _, err = run_cli("model", "show", "bad.json")
    assert code == 1
    (line,) = err.splitlines()
    assert line.startswith("searchlab: bad.json: ")
    assert message in line


def read_run(path):
    return {ranking.qid: dict(zip(ranking.docnos, ranking.scores, strict=True)) for ranking in searchlab.read_run(path)}


def test_a_query_a_run_and_a_file_of_features_are_ranked_alike(collection, model, run_cli):
    assert run_cli("run", "--rerank", model, "-o", "ours.run")[0] == 0
    found = read_run("ours.run")
    record = json.loads(run_cli("query", "heat word1", "--rerank", model, "-k", 100, "--json")[1])
    assert record["model"] == model
    assert {hit["docno"]: hit["score"] for hit in record["hits"]} == pytest.approx(found["1"], rel=1e-12)
    assert run_cli("features", "--run", "ours.run", "--set", "table1", "-o", "f.txt")[0] == 0
    code, out, err = run_cli("rerank", model, "f.txt", "-o", "theirs.run", "--tag", "mine")
    assert (code, out) == (0, "")
    assert f"6 queries, {sum(map(len, found.values()))} results → theirs.run" in err
    again = read_run("theirs.run")
    assert again.keys() == found.keys()
    for qid, own in found.items():
        assert again[qid] == pytest.approx(own, abs=1e-9)
    assert (collection / "theirs.run").read_text().splitlines()[0].split()[-1] == "mine"


def test_a_run_of_the_topics_that_were_learnt_from_is_said_to_be_no_test(collection, model, run_cli):
    warning = "the model has learnt from these topics"
    assert warning in run_cli("run", "--rerank", model, "-o", "r.run")[2]
    (collection / "other.tsv").write_text("1\theat\n")
    assert warning not in run_cli("run", "other.tsv", "--rerank", model, "-o", "r.run")[2]


def test_equal_scores_are_ranked_by_docno_and_rows_without_one_get_a_name(collection, run_cli):
    (collection / "f.txt").write_text("0 qid:7 1:1 #docid = a\n1 qid:7 1:1 #docid = b\n0 qid:7 1:2\n0 qid:8 1:1\n")
    (collection / "t.txt").write_text("0 qid:1 1:1 #docid = a\n1 qid:1 1:2 #docid = b\n")
    options = ["--ranker", "linear", "--normalise", "none", "--folds", 0]
    assert run_cli("train", "t.txt", *options, "-o", "m.json")[0] == 0
    code, out, err = run_cli("rerank", "m.json", "f.txt")
    assert code == 0
    assert [line.split()[:5] for line in out.splitlines()] == [
        ["7", "Q0", "7-3", "1", "2.0"],
        ["7", "Q0", "b", "2", "1.0"],
        ["7", "Q0", "a", "3", "1.0"],
        ["8", "Q0", "8-1", "1", "1.0"],
    ]
    assert "2 rows without a docno, called by query and row, such as 7-3" in err
    (collection / "f.txt").write_text("0 qid:7 1:1 #docid = 7-2\n1 qid:7 1:1\n")
    assert run_cli("rerank", "m.json", "f.txt", "-o", "r.run")[0] == 2
    assert not (collection / "r.run").exists()


def test_features_that_a_file_lacks_are_named(collection, model, run_cli):
    run_cli("features", "--set", "nallapati", "-o", "f.txt")
    code, out, err = run_cli("rerank", model, "f.txt", "-o", "r.run")
    assert (code, out) == (2, "")
    assert "the model needs table1.both.log_tf, " in err
    assert "which the table lacks; it has nallapati." in err
    assert not (collection / "r.run").exists()


def test_filters_narrow_what_is_ranked(collection, model, run_cli):
    with (collection / "mine" / "docs.jsonl").open("a") as file:
        file.write('{"docno": "new", "title": "", "body": "heat heat word1", "year": 1999}\n')
    run_cli("index", "mine")
    record = json.loads(run_cli("query", "heat", "--rerank", model, "--filter", "year=1999", "--json", "--explain")[1])
    assert [hit["docno"] for hit in record["hits"]] == ["new"]
    run_cli("run", "--rerank", model, "--filter", "year=1999", "-o", "r.run")
    assert {docno for own in read_run("r.run").values() for docno in own} == {"new"}


@pytest.mark.parametrize("name", MODELS)
def test_shares_add_up_to_the_score_exactly_and_as_they_are_printed(collection, run_cli, train, name):
    train(name, "--features", "letor45")
    record = json.loads(run_cli("query", "heat word1", "--rerank", f"{name}.json", "--explain", "--json")[1])
    assert len(record["hits"]) == 10
    for hit in record["hits"]:
        assert math.fsum(part["share"] for part in hit["explanation"]) == pytest.approx(hit["score"], abs=1e-9)
    out = run_cli("query", "heat word1", "--rerank", f"{name}.json", "--explain", "-k", 1)[1]
    rows = table_of(out, "feature")
    *shares, total = rows
    assert total == ["score", f"{record['hits'][0]['score']:.4f}"]
    others = [row for row in shares if row[0].endswith(" others")]
    n_parts = len(record["hits"][0]["explanation"])
    assert [row[0] for row in others] == ([f"{n_parts - 10} others"] if n_parts > 10 else [])
    slack = 0 if others else len(shares)  # without others to take it, what rounding left stays
    assert abs(sum(in_units(row[-1]) for row in shares) - in_units(total[-1])) <= slack


def test_what_lies_beyond_the_candidates_is_listed_but_not_explained(collection, run_cli, train):
    train("few", "--set", "C=0.5", "-k", 3, "--no-rm3")
    record = json.loads(run_cli("query", "heat word1", "--rerank", "few.json", "--explain", "--json")[1])
    assert ["explanation" in hit for hit in record["hits"]] == [True] * 3 + [False] * (len(record["hits"]) - 3)
    assert len(record["hits"]) > 3
    docno = record["hits"][3]["docno"]
    code, _, err = run_cli("explain", "heat word1", docno, "--rerank", "few.json")
    assert code == 2
    assert f"{docno} is not among the 3 documents that are re-ranked for this query: the 3 best by bm25" in err


@pytest.mark.parametrize(
    "options", [["--scorer", "bm25"], ["--set", "k1=2"], ["--expand", "rm3"], ["--stream", "title"]]
)
@pytest.mark.parametrize("command", [["query", "heat"], ["run"], ["explain", "heat", "heat-0"]])
def test_a_model_brings_its_own_first_search(collection, model, run_cli, command, options):
    code, out, err = run_cli(*command, "--rerank", model, *options)
    assert (code, out) == (2, "")
    assert f"{options[0]} with --rerank: the model brings its own first search" in err


def test_a_session_does_not_rerank(collection, model, run_cli):
    code, _, err = run_cli("query", "--rerank", model)
    assert code == 2
    assert "--rerank needs a query" in err


def test_an_index_that_does_not_fit_is_refused_with_the_difference(collection, model, run_cli):
    run_cli("index", "mine", "-i", "indexes/bare", "--stemmer", "none")
    for command in (["query", "heat"], ["run", "-o", "r.run"], ["explain", "heat", "heat-0"]):
        code, out, err = run_cli(*command, "--rerank", model, "-i", "bare")
        assert (code, out) == (2, "")
        assert "indexes/bare: its texts have stemmer none" in err
        assert "the model was trained on texts with stemmer porter" in err
    assert not (collection / "r.run").exists()


def test_a_model_of_strange_features_does_not_search_an_index(collection, run_cli):
    (collection / "t.txt").write_text("0 qid:1 1:1 #docid = a\n1 qid:1 1:2 #docid = b\n")
    run_cli("train", "t.txt", "--ranker", "linear", "--folds", 0, "-o", "m.json")
    code, _, err = run_cli("query", "heat", "--rerank", "m.json")
    assert code == 2
    assert "the model needs feature f1, which searchlab does not compute from an index" in err


@pytest.mark.parametrize(
    ("features", "remedy"), [("semantic", "`searchlab semantic"), ("topics", "`searchlab topic-model")]
)
def test_what_an_index_lacks_is_made_by_a_command_that_is_named(collection, run_cli, train, features, remedy):
    train("model", "--features", features, "--set", "C=0.5")
    assert run_cli("query", "heat", "--rerank", "model.json")[0] == 0
    run_cli("index", "mine", "-i", "indexes/fresh")
    if features == "topics":
        run_cli("semantic", "-i", "fresh")
    code, _, err = run_cli("query", "heat", "--rerank", "model.json", "-i", "fresh")
    assert code == 1
    assert remedy in err


def test_one_document_is_explained_by_terms_or_by_features(collection, model, run_cli):
    code, out, _ = run_cli("explain", "heat word1", "heat-0")
    score = searchlab.open("indexes/mine").explain("heat word1", "heat-0").score
    assert code == 0
    assert table_of(out, "term")[-1] == ["score", f"{score:.4f}"]
    out = run_cli("explain", "heat word1", "heat-0", "--rerank", model)[1]
    (share,) = [row for row in table_of(out, "feature") if row[0] == "table1.both.log_tf"]
    weight, scaled = map(float, share[2].split(" × "))
    assert float(share[3]) == pytest.approx(weight * scaled, abs=2e-3)
    # By hand: ln(tf + 1) for heat, which heat-0 has four times, and word1, which it has once.
    assert float(share[1]) == pytest.approx(math.log(5) + math.log(2), abs=5e-4)


@pytest.mark.parametrize("with_model", [True, False])
def test_two_documents_are_set_against_each_other(collection, model, run_cli, with_model):
    options = ["--rerank", model] if with_model else []
    for docnos in (["heat-3", "heat-0"], ["heat-0", "heat-3"]):
        code, out, _ = run_cli("explain", "heat word1", *docnos, *options)
        assert code == 0
        record = json.loads(run_cli("explain", "heat word1", *docnos, *options, "--json")[1])
        scores = {own["docno"]: own["score"] for own in record["documents"]}
        best, worst = sorted(scores, key=lambda docno: -scores[docno])
        assert record["difference"] == pytest.approx(scores[docnos[0]] - scores[docnos[1]])
        assert math.fsum(own["difference"] for own in record["differences"]) == pytest.approx(record["difference"])
        lead = f"{scores[best] - scores[worst]:.3f}".removeprefix("0")
        assert out.startswith(f"{best} scores {lead} more than {worst}, mostly because of ")
        largest = max(record["differences"], key=lambda own: own["difference"] * (1 if best == docnos[0] else -1))
        assert f"because of {largest['label']} (+" in out
        assert re.search(rf"^ +(feature|term) +{best} +{worst} +difference$", out, re.M)
        *rows, total = table_of(out, "feature" if with_model else "term")
        assert in_units(total[3]) == in_units(total[1]) - in_units(total[2])
        assert abs(sum(in_units(row[-1]) for row in rows) - in_units(total[3])) <= len(rows)


def test_documents_of_equal_score_are_said_to_be_so(collection, run_cli):
    documents = [{"docno": name, "title": "", "body": "same words"} for name in "ab"]
    (collection / "twins.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    run_cli("index", "twins.jsonl")
    out = run_cli("explain", "words", "a", "b", "-i", "twins")[1]
    assert out.startswith("b and a have the same score; equal scores are ordered by docno, descending")


def test_a_document_that_the_query_does_not_find_is_told(collection, run_cli):
    told = "heat-0 is not found by this query"
    assert told in run_cli("explain", "word1 NOT heat", "heat-0")[2]
    assert told not in run_cli("explain", "heat word1", "heat-0")[2]


def test_mistakes_in_what_is_to_be_explained_are_told(collection, model, run_cli):
    for docnos, message in [
        (["a", "a"], "expected one, or two different ones"),
        (["gone"], "holds no document 'gone'"),
    ]:
        for options in ([], ["--rerank", model]):
            code, _, err = run_cli("explain", "heat", *docnos, *options)
            assert code == 2
            assert message in err
