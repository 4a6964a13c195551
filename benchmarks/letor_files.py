"""Speed of reading LETOR feature files.

    python benchmarks/letor_files.py [--rows 1000000] [--features 136] [--digits 6] [--folder DIR] [--rounds 3]

A seeded synthetic file in LETOR's format, 100 rows a query, is read by searchlab and by scikit-learn's
`load_svmlight_file(query_id=True)`, in turn, each in its own process. A tenth of the values are whole numbers, as
counts are; the others have `--digits` decimals (17: as many as float64 needs). scikit-learn copies all qids for each
row that it reads, so its time grows with the square of the number of rows; it is therefore timed without qids, too.

Prints wall-clock and CPU seconds, MB of text a second and peak memory, whenever a round was better than those before,
the ratios, and whether all readers read the same numbers, to the last bit. Compiled code is cached on disk, and
compilation is not timed. A million rows take scikit-learn many minutes; `--rounds 1` may be enough.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SEED = 136
ROWS_A_QUERY = 100
BLOCK = 10_000  # rows that are drawn at once
READERS = ("searchlab", "sklearn-no-qids", "scikit-learn")


def write_file(path: Path, n_rows: int, n_features: int, digits: int) -> None:
    rng = np.random.default_rng(SEED)
    form = "%r" if digits >= 17 else f"%.{digits}f"
    counts = rng.random(n_features) < 0.1
    parts = [f"{number}:%d" if count else f"{number}:{form}" for number, count in enumerate(counts, start=1)]
    template = f"%d qid:%d {' '.join(parts)} #docid = D%08d\n"
    with path.open("w", encoding="ascii") as file:
        for start in range(0, n_rows, BLOCK):
            rows = np.arange(start, min(start + BLOCK, n_rows))
            values = np.where(
                counts, rng.integers(0, 200, (len(rows), n_features)), rng.random((len(rows), n_features))
            )
            grades = rng.integers(0, 5, len(rows)).tolist()
            for row, grade, numbers in zip(rows.tolist(), grades, values.tolist(), strict=True):
                file.write(template % (grade, row // ROWS_A_QUERY + 1, *numbers, row))


def clocks() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


def read_with(reader: str, path: Path) -> dict[str, float | str]:
    """Seconds, the peak of memory in MB, and a digest of all numbers that were read."""
    if reader == "searchlab":
        from searchlab.features.letor.letor_files import read_letor

        first_row = path.with_suffix(".first")
        first_row.write_text("1 qid:1 1:0.5 #docid = a\n", encoding="ascii")
        read_letor(first_row)  # loads what is compiled, or compiles it
        first_row.unlink()
        began = clocks()
        table = read_letor(path)
        seconds = clocks() - began
        values, grades, qids = table.values, table.grades, table.qids.astype(np.int64)
    else:
        from sklearn.datasets import load_svmlight_file

        began = clocks()
        values, grades, *rest = load_svmlight_file(str(path), query_id=reader == "scikit-learn")
        seconds = clocks() - began
        qids = rest[0] if rest else np.arange(len(grades)) // ROWS_A_QUERY + 1
    # ru_maxrss is in kB, but in bytes on a Mac.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    digest = hashlib.sha256(grades.astype(np.float64).tobytes() + qids.astype(np.int64).tobytes())
    for start in range(0, len(grades), BLOCK):
        rows = values[start : start + BLOCK]
        digest.update(np.ascontiguousarray(rows if reader == "searchlab" else rows.toarray()).tobytes())
    return {"seconds": seconds[0], "processor": seconds[1], "peak": peak, "digest": digest.hexdigest()}


def read_in_process(reader: str, path: Path) -> dict[str, float | str]:
    command = [sys.executable, __file__, "--reader", reader, "--file", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--digits", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the file is written and kept; by default it is not kept")
    parser.add_argument("--reader", choices=READERS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader:
        print(json.dumps(read_with(options.reader, options.file)))
        return
    with tempfile.TemporaryDirectory() as passing:
        path = (options.folder or Path(passing)) / f"letor-{options.rows}-{options.features}-{options.digits}.txt"
        if not path.exists():
            write_file(path, options.rows, options.features, options.digits)
        compare(path, options)


def compare(path: Path, options: argparse.Namespace) -> None:
    megabytes = path.stat().st_size / 1e6
    print(f"{options.rows:,} rows × {options.features} features, {options.digits} digits, {megabytes:,.0f} MB")
    print(f"{'':16}{'seconds':>9}{'processor':>11}{'MB/s':>8}{'peak MB':>9}")
    best: dict[str, dict[str, float]] = {}
    digests = set()
    for _ in range(options.rounds):
        for reader in READERS:
            found = read_in_process(reader, path)
            digests.add(found["digest"])
            if reader not in best or found["seconds"] < best[reader]["seconds"]:
                best[reader] = found
                figures = f"{found['seconds']:9.2f}{found['processor']:11.2f}{megabytes / found['seconds']:8.0f}"
                print(f"{reader:16}{figures}{found['peak']:9.0f}", flush=True)
    for reader in READERS[1:]:
        ratios = [best[reader][key] / best["searchlab"][key] for key in ("seconds", "processor")]
        print(f"{reader} takes {ratios[0]:.1f} times as long by the clock, {ratios[1]:.1f} of the processor")
    print(f"numbers equal: {len(digests) == 1}")


if __name__ == "__main__":
    main()
