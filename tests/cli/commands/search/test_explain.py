import json
import math
import re

import pytest

import searchlab
from tests.cli.commands.trained_models import in_units, table_of


def test_one_document_is_explained_by_terms_or_by_features(collection, model, run_cli):
    code, out, _ = run_cli("explain", "heat word1", "heat-0")
    score = searchlab.open("indexes/mine").explain("heat word1", "heat-0").score
    assert code == 0
    assert table_of(out, "term")[-1] == ["score", f"{score:.4f}"]
    out = run_cli("explain", "heat word1", "heat-0", "--rerank", model)[1]
    (row,) = [row for row in table_of(out, "feature") if row[0] == "table1.both.log_tf"]
    weight, scaled = map(float, row[2].split(" × "))
    assert float(row[3]) == pytest.approx(weight * scaled, abs=2e-3)
    # By hand: ln(tf + 1) for heat, which heat-0 has four times, and word1, which it has once.
    assert float(row[1]) == pytest.approx(math.log(5) + math.log(2), abs=5e-4)


@pytest.mark.parametrize("with_model", [True, False])
def test_two_documents_are_compared(collection, model, run_cli, with_model):
    options = ["--rerank", model] if with_model else []
    for docnos in (["heat-3", "heat-0"], ["heat-0", "heat-3"]):
        code, out, _ = run_cli("explain", "heat word1", *docnos, *options)
        assert code == 0
        record = json.loads(run_cli("explain", "heat word1", *docnos, *options, "--json")[1])
        scores = {each["docno"]: each["score"] for each in record["documents"]}
        best, worst = sorted(scores, key=lambda docno: -scores[docno])
        assert record["difference"] == pytest.approx(scores[docnos[0]] - scores[docnos[1]])
        assert math.fsum(each["amount"] for each in record["differences"]) == pytest.approx(record["difference"])
        lead = f"{scores[best] - scores[worst]:.3f}".removeprefix("0")
        assert out.startswith(f"{best} scores {lead} more than {worst}, mostly because of ")
        largest = max(record["differences"], key=lambda each: each["amount"] * (1 if best == docnos[0] else -1))
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


def test_a_document_that_the_query_does_not_find_is_noted(collection, run_cli):
    message = "heat-0 is not found by this query"
    assert message in run_cli("explain", "word1 NOT heat", "heat-0")[2]
    assert message not in run_cli("explain", "heat word1", "heat-0")[2]


def test_mistakes_in_what_is_to_be_explained_are_refused(collection, model, run_cli):
    for docnos, message in [
        (["a", "a"], "expected one, or two different ones"),
        (["gone"], "holds no document 'gone'"),
    ]:
        for options in ([], ["--rerank", model]):
            code, _, err = run_cli("explain", "heat", *docnos, *options)
            assert code == 2
            assert message in err
