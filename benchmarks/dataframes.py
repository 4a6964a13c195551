"""Runs as DataFrames: a million rows to and from pandas and polars, beside pandas' reader and ranx's constructor.

python benchmarks/dataframes.py [--rows 1000000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import searchlab
from searchlab.corpus import Run

REPEATS = 3
DOCUMENTS_PER_TOPIC = 1000


def make_run(n_rows: int) -> Run:
    """A run of random scores, with 1,000 documents a topic."""
    random = np.random.default_rng(17)
    qids = np.arange(n_rows) // DOCUMENTS_PER_TOPIC + 1
    docnos = [f"doc-{number:07d}" for number in random.permutation(n_rows)]
    return Run.from_columns(qids, docnos, random.random(n_rows), name="random")


def best_time(work: Callable[[], Any]) -> float:
    """The shortest of several durations."""
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def read_by_pandas(path: Path) -> Any:
    """The run file as pandas reads it."""
    names = ["qid", "iteration", "docno", "rank", "score", "tag"]
    return pd.read_csv(path, sep=" ", names=names, dtype={"qid": str, "docno": str})


def main() -> None:
    """Print seconds, and ratios to a reference that does the same or less."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    n_rows = parser.parse_args().rows
    run = make_run(n_rows)
    frames = {"pandas": run.to_dataframe(), "polars": run.to_dataframe(polars=True)}
    assert isinstance(frames["polars"], pl.DataFrame)
    assert all(Run.from_dataframe(frame) == run for frame in frames.values())
    shuffled = frames["pandas"].sample(frac=1, random_state=17)
    assert Run.from_dataframe(shuffled).to_dict() == run.to_dict()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.run"
        run.write(path)
        times = {
            "pandas.read_csv": best_time(lambda: read_by_pandas(path)),
            "read_run": best_time(lambda: searchlab.read_run(path)),
        }
    times |= {
        "Run.to_dataframe, pandas": best_time(run.to_dataframe),
        "Run.to_dataframe, polars": best_time(lambda: run.to_dataframe(polars=True)),
        "Run.from_dataframe, pandas": best_time(lambda: Run.from_dataframe(frames["pandas"])),
        "Run.from_dataframe, polars": best_time(lambda: Run.from_dataframe(frames["polars"])),
        "Run.from_dataframe, pandas, shuffled": best_time(lambda: Run.from_dataframe(shuffled)),
    }
    try:
        import ranx
    except ImportError:
        print("ranx is not installed: left out")
    else:
        columns = {"q_id_col": "qid", "doc_id_col": "docno", "score_col": "score"}
        # ranx takes no other columns than those of objects.
        plain = frames["pandas"].astype({"qid": object, "docno": object})
        times["ranx.Run.from_df"] = best_time(lambda: ranx.Run.from_df(plain, **columns))
    reference = times["pandas.read_csv"]
    print(f"{n_rows:,} rows; the best of {REPEATS}")
    for name, seconds in times.items():
        print(f"{name:38} {seconds:7.3f} s  {seconds / reference:6.2f} × pandas.read_csv")


if __name__ == "__main__":
    main()
