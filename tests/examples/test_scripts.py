"""Each script of examples/ runs from any folder, prints what it is about, and leaves no file behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What these register is used by a script here or by commands of docs/extending.md, which are tested.
EXTENSIONS = {"own_extension.py", "own_features.py"}
MAX_LINES = 40

# A line of the output, as a pattern: numbers of models are given to the digits that do not depend on the platform.
OUTPUTS = {
    "cross_validate_rankers.py": r"RankSVM\(C=1\): 0\.8\d\d best",
    "evaluate_and_compare.py": r"rm3 is better than bm25 on 18 of 26 topics, worse on 4, equal on 4: AP \+\.033",
    "explain_ranking.py": r"med-042 scores \.417 more than med-010, mostly because of poison \(\+2\.099\)",
    "first_search.py": r"1\. 16\.591  med-043  Angioimmunoblastic T-cell lymphoma",
    "fusion.py": r"BM25\[body\] \+ 0\.5 \* BM25\[title\] +0\.6801 ",
    "held_out_topic.py": r"the model +nDCG@10 0\.73\d+ +AP 0\.76",
    "index_dataframe.py": r"4 documents, of which 1 new",
    "mixture_by_em.py": r"by EM +0\.7072 +0\.7353 ",
    "pyterrier_experiment.py": r"BM25, re-ranked 0\.7\d+ +0\.7\d+",
    "rerank_pipeline.py": r"BM25 >> RM3 >> rerank\(softmax\) +0\.79\d+ +0\.77\d+ +13",
    "train_own_features.py": r"weight of own\.title_share: \+0\.8",
    "train_own_ranker.py": r"ridge +0\.75\d+ +13",
}
NEEDED = {"index_dataframe.py": "pandas", "pyterrier_experiment.py": "pyterrier", "train_own_ranker.py": "lightgbm"}


def test_every_script_is_run_and_short():
    scripts = {path.name: path.read_text("utf-8") for path in (ROOT / "examples").glob("*.py")}
    assert set(scripts) == set(OUTPUTS) | EXTENSIONS
    assert [name for name in OUTPUTS if len(scripts[name].splitlines()) > MAX_LINES] == []


def test_every_example_is_described():
    page = (ROOT / "docs" / "examples.md").read_text("utf-8")
    described = re.findall(r"^\| \[(\S+)\]\(https://\S+/blob/main/examples/(\S+)\) \|", page, re.MULTILINE)
    examples = [path for pattern in ("*.py", "notebooks/*.ipynb") for path in (ROOT / "examples").glob(pattern)]
    assert examples
    assert sorted(described) == sorted((path.name, path.relative_to(ROOT / "examples").as_posix()) for path in examples)


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_a_script_prints_what_it_is_about(name, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert re.search(rf"^ *{OUTPUTS[name]}", result.stdout, re.MULTILINE), result.stdout
    assert list(tmp_path.iterdir()) == []
