# mypy: disable-error-code="attr-defined"
import json
import math
import re

import pytest

from searchlab.rankers.bundle import load_bundle
from tests.cli.commands.trained_models import MODELS, table_of


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
    elif name == "powers":
        rows = {row[0]: list(map(float, row[1:])) for row in table_of(out, "feature")}
        assert re.search(r"feature +x +x² +√x +sum\n", out)
        column = list(load_bundle("powers.json").features).index("table1.both.log_tf")
        weights = model.weights[[column, column + 7, column + 14]].tolist()
        assert rows["table1.both.log_tf"] == pytest.approx([*weights, sum(weights)], abs=5e-5)
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
    elif name == "rsvm-knn":
        rows = table_of(out, "feature")
        means = model.planes.mean(axis=0).tolist()
        assert [float(row[-1]) for row in rows] == pytest.approx(
            sorted((mean for mean in means if mean), key=abs, reverse=True), abs=5e-5
        )
    else:
        assert re.search(r"feature +slope\n", out)


def test_only_the_most_influential_weights_are_printed_unless_all_are_asked_for(collection, run_cli, train):
    train("many", "--features", "letor45", "--set", "C=0.5")
    few, everything = (run_cli("model", "show", "many.json", *more)[1] for more in ([], ["--all"]))
    n_weights = sum(weight != 0 for weight in load_bundle("many.json").model.weights)
    assert len(table_of(few, "feature")) == 21
    assert f"and {n_weights - 20} more; --all prints them" in few
    assert len(table_of(everything, "feature")) == n_weights


def test_a_model_is_shown_as_json(model, run_cli):
    record = json.loads(run_cli("model", "show", model, "--json")[1])
    assert record["ranker"]["name"] == "softmax"
    assert record["influences"][0]["weight"] == max(record["model"]["weights"], key=abs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kept: "{", "not a JSON file"),
        (lambda kept: "[]", "not a model of searchlab: format is 'list'"),
        (lambda kept: json.dumps(kept | {"format": "searchlab model 9"}), "expected 'searchlab model 1'"),
        (lambda kept: json.dumps({key: kept[key] for key in kept if key != "model"}), "malformed model (KeyError"),
        (lambda kept: json.dumps(kept | {"model": {"kind": "linear", "weights": [1]}}), "has 1 features, expected 7"),
        (
            lambda kept: json.dumps(kept | {"model": {"kind": "linear", "weights": [math.nan] * 7}}),
            "not a JSON file (found NaN, expected a number)",
        ),
        (lambda kept: json.dumps(kept | {"training": {"details": 3}}), "malformed model"),
    ],
)
def test_a_malformed_model_ends_in_one_line(collection, model, run_cli, change, message):
    kept = json.loads((collection / model).read_text())
    del kept["checksum"]
    (collection / "bad.json").write_text(change(kept))
    code, _, err = run_cli("model", "show", "bad.json")
    assert code == 1
    (line,) = err.splitlines()
    assert line.startswith("searchlab: bad.json: ")
    assert message in line
