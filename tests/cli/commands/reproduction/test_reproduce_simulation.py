def test_the_simulation_prints_a_table_and_a_verdict(tmp_path, run_cli):
    code, out, err = run_cli("reproduce", "simulation", "--runs", "1", "--seed", "3", "-o", "sim")
    assert code == 0, err
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[2:13]] == ["1", *(str(position) for position in range(10, 101, 10))]
    assert "the mean of 1 run, seed 3. The paper's claim" in out
    assert run_cli("reproduce", "simulation", "--runs", "1", "--seed", "3")[1] == out
    assert (tmp_path / "sim" / "report.html").exists()


def test_a_simulation_without_runs_is_refused(run_cli):
    assert run_cli("reproduce", "simulation", "--runs", "0")[::2] == (
        2,
        "searchlab: runs is 0, expected a whole number from 1 to 10000\n",
    )
