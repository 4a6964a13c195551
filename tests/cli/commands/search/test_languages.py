"""`--language` and `--synonyms` on the command line, and what commands say of languages."""

import json

import pytest

import searchlab
from searchlab.retrieval.query.synonyms import Synonyms
from searchlab.web.state.open_indexes import OpenIndexes, local_engines

DOCUMENTS = [
    {
        "docno": "de",
        "title": "Die Krankenhäuser",
        "body": "Die Ärzte der Krankenhäuser behandeln Kinder und Erwachsene.",
    },
    {"docno": "en", "title": "The hospitals", "body": "The physicians of the hospitals treat children and adults."},
]


@pytest.fixture
def mixed(tmp_path, monkeypatch, run_cli):
    monkeypatch.chdir(tmp_path)
    lines = "".join(json.dumps(document) + "\n" for document in DOCUMENTS)
    (tmp_path / "mixed.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "synonyms.txt").write_text("hospital, Krankenhaus\n", encoding="utf-8")
    code, out, err = run_cli("index", "mixed.jsonl", "--language", "english,german")
    assert code == 0, err
    assert "  languages: english 1, german 1\n" in out
    return tmp_path


def found(run_cli, *arguments):
    _, out, err = run_cli("query", *arguments, "--json")
    return sorted(hit["docno"] for hit in json.loads(out)["hits"]), err


def test_an_index_says_its_languages(mixed, run_cli):
    assert "  language english,german: english 1, german 1\n" in run_cli("stats")[1]
    record = json.loads(run_cli("stats", "--json")[1])
    assert (record["language"], record["languages"]) == ("english,german", {"english": 1, "german": 1})
    assert run_cli("doctor")[1].endswith("examined, language english,german\n")


def test_a_query_is_in_all_languages_or_in_one(mixed, run_cli):
    assert found(run_cli, "krankenhaus children")[0] == ["de", "en"]
    assert found(run_cli, "krankenhaus children", "--language", "german")[0] == ["de"]
    code, _, err = run_cli("query", "krankenhaus", "--language", "dutch")
    assert code == 2
    assert "unknown language of indexes/mixed 'dutch'; there is: english, german" in err


def test_synonyms_of_a_query_a_run_and_an_explanation(mixed, run_cli):
    assert found(run_cli, "krankenhaus")[0] == ["de"]
    assert found(run_cli, "krankenhaus", "--synonyms", "synonyms.txt")[0] == ["de", "en"]
    (mixed / "topics.tsv").write_text("1\tkrankenhaus\n", encoding="utf-8")
    run = run_cli("run", "--topics", "topics.tsv", "--synonyms", "synonyms.txt")[1]
    assert sorted(line.split()[2] for line in run.splitlines()) == ["de", "en"]
    explanation = run_cli("explain", "krankenhaus", "en", "--synonyms", "synonyms.txt")[1]
    assert "krankenhaus = hospit" in explanation
    code, _, err = run_cli("query", "krankenhaus", "--synonyms", "nowhere.txt")
    assert code != 0
    assert "nowhere.txt" in err


def test_the_language_of_an_index_is_refused_with_one_line(mixed, run_cli):
    code, _, err = run_cli("index", "mixed.jsonl", "--language", "klingon", "--rebuild")
    assert (code, err.count("\n")) == (2, 1)
    assert "unknown language 'klingon'" in err


def test_a_server_has_synonyms(mixed):
    served = OpenIndexes([mixed / "indexes" / "mixed"], (), local_engines(Synonyms.given("synonyms.txt"))).get()
    assert sorted(served.engine.search("krankenhaus").docnos) == ["de", "en"]
    assert served.engine.snapshot.manifest.settings.language == "english,german"


def test_models_tell_the_language_of_their_index(mixed):
    from searchlab.rankers.bundle import analysis_record, describe_analysis

    with searchlab.open("mixed") as engine:
        record = analysis_record(engine.snapshot.manifest.settings)
    assert describe_analysis(record).startswith("language english,german, stemmer by-language, stop list default (")
