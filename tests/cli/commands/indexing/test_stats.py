import json


def test_stats_count_by_hand(here, run_cli):
    run_cli("delete", "aero")
    code, out, err = run_cli("stats", "--top", "2")
    assert (code, err) == (0, "index: indexes/small\n")
    rows = [line.split() for line in out.splitlines()]
    # By hand: t cell lymphoma, lymphoma t cell; nothing, cell prison.
    assert ["title", "1", "3", "3", "1.5", "3"] in rows
    assert ["body", "2", "5", "4", "2.5", "3"] in rows
    assert ["both", "2", "8", "4", "4.0", "6"] in rows
    assert ["year", "1"] in rows
    assert ["cell", "2", "3"] in rows
    assert ["lymphoma", "1", "2"] in rows
    (shard,) = [row for row in rows if row and row[0].startswith("shard-")]
    assert shard[1:3] == ["2", "1"]


def test_stats_as_json(here, run_cli):
    record = json.loads(run_cli("stats", "--json")[1])
    assert (record["n_docs"], record["n_deleted"], record["streams"]["both"]["n_tokens"]) == (3, 0, 12)
    assert record["sources"] == [str(here / "small.jsonl")]
