N_TOPICS = 12


def test_a_damaged_index_is_found(here, run_cli):
    code, out, _ = run_cli("doctor")
    assert (code, out) == (0, "indexes/small: healthy; 3 documents in 1 shard examined, language english\n")
    (path,) = here.glob("indexes/small/shard-*/columns")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    code, out, err = run_cli("doctor")
    assert code == 1
    assert f"{path.parent.name}/columns: not what was written" in out
    assert "--rebuild" in out
    assert err.endswith("indexes/small: 1 problem found\n")


def test_files_without_problems_are_named(judged_index, run_cli):
    assert run_cli("doctor", "topics.tsv", "qrels.txt", "-i", "it") == (
        0,
        "no problems in topics.tsv (12 topics), qrels.txt (judgments, 12 topics)\n",
        "",
    )


def test_each_problem_of_files_is_a_line(judged_index, run_cli):
    (judged_index / "bad.run").write_text("".join(f"q{n} Q0 LONG{n} 1 {n + 1}.0 t\n" for n in range(N_TOPICS)))
    code, out, err = run_cli("doctor", "qrels.txt", "bad.run", "-i", "it")
    assert code == 1
    assert out.splitlines() == [
        "bad.run: 12 of 12 topics not in qrels.txt: q0, q1, q10 and 9 more; "
        "likely cause: the prefix 'q' (q0 here, 0 there)",
        "bad.run: 12 of 12 documents not in indexes/it: LONG0, LONG1, LONG10 and 9 more; "
        "likely cause: upper and lower case (LONG0 here, long0 there)",
    ]
    assert err == "2 problems found\n"


def test_the_doctor_without_files_examines_the_index(judged_index, run_cli):
    code, out, _ = run_cli("doctor", "-i", "it")
    assert (code, out) == (0, "indexes/it: healthy; 24 documents in 1 shard examined, language english\n")


def test_a_note_about_a_file_is_no_problem(judged_index, run_cli):
    (judged_index / "tied.run").write_text("0 Q0 x 1 1.0 t\n0 Q0 y 2 1.0 t\n")
    code, out, err = run_cli("doctor", "tied.run")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "note: tied.run: 1 of 1 topic with equal scores: 0; their order depends on the evaluation tool",
        "no problems in tied.run (run, 1 topic)",
    ]


def test_the_doctor_examines_the_semantic_space_too(here, run_cli):
    run_cli("semantic", "--dims", "2")
    assert run_cli("doctor")[0] == 0
    (path,) = (here / "indexes" / "small" / "semantic").glob("terms-*")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    code, out, _ = run_cli("doctor")
    assert code == 1
    assert path.name in out
    assert "searchlab semantic" in out


def test_the_doctor_examines_topic_models_too(here, run_cli):
    run_cli("topic-model", "--n-topics", 2)
    assert run_cli("doctor")[0] == 0
    (vectors,) = (here / "indexes" / "small" / "topics" / "plsa").glob("vectors-*")
    content = bytearray(vectors.read_bytes())
    content[-1] ^= 1
    vectors.write_bytes(content)
    code, out, err = run_cli("doctor")
    assert code == 1
    assert f"{vectors.name}: its checksum does not match; `searchlab topic-model -i" in out
    assert err.endswith("indexes/small: 1 problem found\n")
