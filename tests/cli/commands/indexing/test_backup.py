import json
import shutil


def test_an_index_is_backed_up_listed_and_restored(here, run_cli):
    code, out, _ = run_cli("backup", "list")
    assert (code, out) == (0, "")
    code, out, err = run_cli("backup", "create", "first")
    assert (code, err) == (0, "index: indexes/small\n")
    assert out.startswith("indexes/small.backups/first: 3 documents, ")
    assert out.endswith("; index\n")
    code, out, _ = run_cli("backup", "list", "-i", "small")
    assert code == 0
    assert out.splitlines()[1].split()[:2] == ["first", "3"]
    (listed,) = json.loads(run_cli("backup", "list", "-i", "small", "--json")[1])
    assert (listed["name"], listed["n_docs"], listed["parts"]) == ("first", 3, ["index"])
    assert run_cli("backup", "restore", "first", "-i", "small") == (
        2,
        "",
        "searchlab: indexes/small: exists already; --force replaces it by the backup\n",
    )
    run_cli("delete", "aero", "-i", "small")
    assert run_cli("backup", "restore", "first", "-i", "small", "--force")[:2] == (
        0,
        "indexes/small: 3 documents restored; index\n",
    )
    shutil.rmtree(here / "indexes" / "small")
    assert run_cli("backup", "restore", "first", "-i", "small")[0] == 0
    assert run_cli("doctor", "-i", "small")[0] == 0


def test_a_damaged_backup_is_a_warning_in_the_list(here, run_cli):
    run_cli("backup", "create", "first")
    (here / "indexes" / "small.backups" / "first" / "backup.json").write_text("{}")
    code, _, err = run_cli("backup", "list", "-i", "small")
    assert code == 0
    assert "warning: indexes/small.backups/first/backup.json: damaged" in err
