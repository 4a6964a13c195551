import io


def test_deleting_and_merging(here, run_cli, monkeypatch):
    code, out, _ = run_cli("delete", "med-1")
    assert code == 0
    assert out.startswith("indexes/small: 2 documents (1 removed)\n")
    assert "1 shard, with 1 deleted document\n" in out
    assert run_cli("query", "lymphoma")[0] == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("med-2\n\n"))
    assert run_cli("delete", "-")[1].startswith("indexes/small: 1 document (1 removed)\n")
    _, out, _ = run_cli("merge")
    assert out.startswith("indexes/small: 1 document\n")
    assert "deleted" not in out
