import json
import re

import pytest

from benchmarks.folder_files import documents as files


def test_index_prints_a_summary(tmp_path, run_cli, docs):
    (tmp_path / "small.jsonl").write_text(docs)
    code, out, err = run_cli("index", "small.jsonl")
    assert (code, err) == (0, "")
    first, pace, size = out.splitlines()
    assert first == "indexes/small: 3 documents"
    # By hand: t cell lymphoma lymphoma t cell; cell prison; wing heat flow wing.
    assert re.fullmatch(r"  \d+\.\d s \([\d,]+ documents/s\), 12 tokens", pace)
    assert re.fullmatch(r"  0\.0 MB in 1 shard", size)


def test_hidden_files_are_counted(tmp_path, run_cli, docs):
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "a.jsonl").write_text(docs)
    (tmp_path / "mixed" / ".DS_Store").write_bytes(b"\0")
    _, _, err = run_cli("index", "mixed", "--report", "report.csv")
    assert err == "found: files 1 read, 1 hidden; records 3 documents\n"
    assert "hidden,mixed/.DS_Store,its name begins with a point: not read" in (tmp_path / "report.csv").read_text()


@pytest.mark.parametrize("rule", ["keep-first", "keep-last"])
def test_index_counts_what_it_left_out(tmp_path, run_cli, docs, rule):
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "a.jsonl").write_text(docs + docs)
    (tmp_path / "mixed" / "b.bin").write_bytes(b"\0\1\2")
    code, out, err = run_cli("index", "mixed", "--on-duplicate", rule)
    assert code == 0
    account = "found: files 1 read, 1 skipped; records 3 documents, 3 copies"
    assert err.splitlines() == ["skipped mixed/b.bin: binary content", account]
    assert out.startswith("indexes/mixed: 3 documents (3 duplicates left out)\n")


def test_indexing_again_updates(here, run_cli, docs):
    first, second, _ = docs.splitlines()
    (here / "small.jsonl").write_text(
        f'{first.replace("1999", "2001")}\n{second}\n{{"docno": "new", "title": "Cells"}}\n'
    )
    code, out, _ = run_cli("index", "small.jsonl")
    assert code == 0
    assert out.startswith("indexes/small: 4 documents (1 added, 1 updated, 1 unchanged)\n")
    _, out, _ = run_cli("index", "small.jsonl", "--prune")
    assert out.startswith("indexes/small: 3 documents (3 unchanged, 1 removed)\n")
    assert run_cli("query", "wings")[0] == 1


def test_bad_records_are_named_and_left_out(tmp_path, run_cli, docs):
    (tmp_path / "some.jsonl").write_text(docs + '{"docno": \n' * 12)
    code, out, err = run_cli("index", "some.jsonl")
    assert (code, out.splitlines()[0]) == (0, "indexes/some: 3 documents")
    lines = err.splitlines()
    assert lines[0].startswith("warning: bad record some.jsonl:4: ")
    account = "found: files 1 read; records 3 documents, 12 bad"
    assert lines[10:] == ["warning: 12 bad records left out; --strict stops at the first", account]


def test_two_exports_with_the_same_counts_are_indexed_and_again_found_unchanged(tmp_path, run_cli):
    (tmp_path / "ex").mkdir()
    for name, title in [("a", "Wings"), ("b", "Heat")]:
        records = f"TY  - A\nID  - 1\nTI  - {title}\nER  - \nTY  - A\nID  - key\nTI  - Of {title}\nER  - \n"
        (tmp_path / "ex" / f"{name}.ris").write_text(records)
    code, out, err = run_cli("index", "ex")
    assert (code, out.splitlines()[0]) == (0, "indexes/ex: 4 documents")
    assert err.splitlines() == [
        "warning: ex/b.ris:5: docno key has other content elsewhere: kept as key~b.ris",
        "warning: 1 document kept under another docno, because two had the same",
    ]
    assert run_cli("index", "./ex/")[1].startswith("indexes/ex: 4 documents (4 unchanged)\n")


@pytest.mark.parametrize("rule", ["keep-all", "keep-last"])
def test_the_report_lists_what_is_left_out_and_is_no_danger_in_a_spreadsheet(tmp_path, run_cli, rule):
    (tmp_path / "ex").mkdir()
    (tmp_path / "ex" / "a.ris").write_text("TY  - A\nDO  - 10/1\nID  - =1+2\nER  - \nTY  - A\nDO  - 10/1\nER  - \n")
    (tmp_path / "ex" / "b.bin").write_bytes(b"\0")
    code, out, _ = run_cli("index", "ex", "--deduplicate", "--report", "out.csv", "--on-duplicate", rule)
    assert (code, out.splitlines()[0]) == (0, "indexes/ex: 1 document (1 duplicate left out)")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "kind,location,message",
        "format,ex/a.ris,read as ris",
        "duplicate,ex/a.ris:5,10/1 has the same DOI as =1+2: left out",
        "skipped file,ex/b.bin,binary content",
    ]


def test_prune_is_stopped_by_no_foreign_file_but_by_a_bad_record(tmp_path, run_cli, docs):
    (tmp_path / "some").mkdir()
    for name in ("a", "b"):
        (tmp_path / "some" / f"{name}.txt").write_text("wings")
    (tmp_path / "some" / "c.jsonl").write_text(docs)
    run_cli("index", "some")
    (tmp_path / "some" / "a.txt").unlink()
    (tmp_path / "some" / "letter.rst").write_text("wings")
    assert run_cli("index", "some", "--prune")[1].startswith("indexes/some: 4 documents (4 unchanged, 1 removed)\n")
    (tmp_path / "some" / "b.txt").unlink()
    (tmp_path / "some" / "d.jsonl").write_text('{"docno": "new"}\n{"docno": \n')
    code, out, err = run_cli("index", "some", "--prune")
    assert (code, out.splitlines()[0]) == (0, "indexes/some: 5 documents (1 added, 3 unchanged)")
    expected = "nothing was removed, since documents may be in what could not be read, first some/d.jsonl:2: expected"
    assert f"warning: {expected}" in err


def test_the_account_covers_all_that_was_found_and_the_report_lists_the_rest(tmp_path, run_cli, docs):
    # By hand: five files, of which two are read, one is damaged and two skipped; 4 documents, 30 bad records.
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "a.jsonl").write_text(docs + '{"docno": \n' * 30)
    (folder / "b.txt").write_bytes("Größe".encode("cp1252"))
    (folder / "c.txt").write_bytes(b"\x1f\x8b damaged")
    (folder / "d.bin").write_bytes(b"\0\1\2")
    (folder / "e.csv").write_text("1,number\n1,2\n")
    code, _, err = run_cli("index", "all", "--report", "out.csv")
    assert code == 0
    assert err.splitlines()[-1] == "found: files 2 read, 2 skipped, 1 not readable; records 4 documents, 30 bad"
    kinds = [line.partition(",")[0] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "format": 2,
        "bad record": 30,
        "encoding": 1,
        "unreadable file": 1,
        "skipped file": 2,
    }


def test_map_names_the_columns_of_a_table(tmp_path, run_cli):
    (tmp_path / "a.csv").write_text("Key,Heading\nk1,Wings\n")
    assert run_cli("index", "a.csv", "--map", "title=Heading", "--map", "docno=Key")[0] == 0
    code, out, _ = run_cli("query", "wings", "--json")
    assert (code, json.loads(out)["hits"][0]["docno"]) == (0, "k1")


def test_a_guessed_encoding_is_a_warning_with_the_name_of_the_file(tmp_path, run_cli):
    text = "Влияние физической нагрузки на артериальное давление у пожилых пациентов"
    (tmp_path / "a.txt").write_bytes(text.encode("koi8-r"))
    code, _, err = run_cli("index", "a.txt", "-q", "--report", "out.csv")
    assert (code, err) == (0, "warning: not UTF-8, encoding guessed: a.txt (read as KOI8-R, a guess)\n")
    assert 'encoding,a.txt,"read as KOI8-R, a guess"' in (tmp_path / "out.csv").read_text().splitlines()


def test_verbose_lists_every_record_that_is_not_indexed(tmp_path, run_cli):
    # By hand: of 60 lines 25 are bad, 24 are copies of the first, and 11 are documents.
    good = [f'{{"docno": "d{number}", "title": "x"}}' for number in range(11)]
    (tmp_path / "a.jsonl").write_text("\n".join(good + good[:1] * 24 + ["{"] * 25))
    _, _, err = run_cli("index", "a.jsonl", "-v")
    lines = err.splitlines()
    assert [line.split(":")[2] for line in lines if line.startswith("warning: bad record a.jsonl:")] == [
        str(number) for number in range(36, 61)
    ]
    assert [line.split(":")[1] for line in lines if line.startswith("copy a.jsonl:")] == [
        str(number) for number in range(12, 36)
    ]
    _, _, err = run_cli("index", "a.jsonl", "--rebuild")
    assert err.count("bad record a.jsonl:") == 10
    assert "copy a.jsonl" not in err


def test_columns_of_tables_and_workbooks_are_mapped(tmp_path, run_cli):
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "a.csv").write_text("Key,Heading\nk1,Wings\n")
    (tmp_path / "some" / "b.xlsx").write_bytes(files.xlsx({"S": [["Key", "Heading"], ["k2", "More wings"]]}))
    code, out, _ = run_cli("index", "some", "--map", "title=Heading", "--map", "docno=Key")
    assert (code, out.splitlines()[0]) == (0, "indexes/some: 2 documents")
    assert "k2  More *wings*" in run_cli("query", "wings", "-i", "some")[1]


def test_pages_of_documents_are_shown_with_their_passages(tmp_path, run_cli):
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "a.pdf").write_bytes(files.pdf([["Title", "nothing"], ["of wings"], ["wings"]]))
    (tmp_path / "some" / "b.txt").write_text("wings")
    code, _, _ = run_cli("index", "some")
    assert code == 0
    _, out, _ = run_cli("query", "wings")
    assert "     p. 2: nothing of *wings* *wings*\n" in out
    first, second = json.loads(run_cli("query", "wings", "--json")[1])["hits"]
    assert {first["docno"]: first.get("page"), second["docno"]: second.get("page")} == {"a.pdf": 2, "b.txt": None}


def test_a_document_that_cannot_be_read_stops_no_pruning_and_is_kept(tmp_path, run_cli):
    folder = tmp_path / "some"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.pdf").write_bytes(files.pdf([["wings"]]))
    run_cli("index", "some")
    (folder / "a.pdf").write_bytes(files.encrypted_pdf())
    (folder / "b.pdf").unlink()
    code, out, err = run_cli("index", "some", "--prune", "--report", "out.csv")
    assert (code, out.splitlines()[0]) == (0, "indexes/some: 2 documents (1 unchanged, 1 removed)")
    assert err.splitlines() == [
        "warning: skipped some/a.pdf: encrypted, it can be read only with a password",
        "found: files 1 read, 1 not readable; records 1 documents",
    ]
    listed = 'unreadable file,some/a.pdf,"encrypted, it can be read only with a password"'
    assert listed in (tmp_path / "out.csv").read_text().splitlines()
    assert "a.pdf" in run_cli("query", "wings")[1]
