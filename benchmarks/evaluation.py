"""Speed of reading and evaluating a run, compared with pytrec_eval.

    python benchmarks/evaluation.py                    # 1,000 topics of 1,000 documents
    python benchmarks/evaluation.py --topics 100

A run and judgments are written to files; searchlab and pytrec_eval (with its own readers) read and evaluate them in
turns, each time in a new process that has already loaded the compiled code. The values of all topics are then
compared. The last line is the inner loop of model selection: 106 queries of 150 rows, three measures.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from report import table

TOOLS = ("searchlab", "pytrec_eval")
MEASURES = {"AP": "map", "nDCG@10": "ndcg_cut_10", "P@10": "P_10", "RR": "recip_rank", "R@100": "recall_100"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=1000, help="documents a topic")
    parser.add_argument("--judged", type=int, default=200, help="judged documents a topic")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tool", choices=TOOLS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tool:
        print(json.dumps(measure(options.tool, options.folder)))
        return
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), options.topics, options.documents, options.judged)
        compare(Path(folder), options)
    print()
    time_scores()


def write_files(folder: Path, n_topics: int, n_docs: int, n_judged: int) -> None:
    """A run with some ties, and judgments of documents, half of which are in the run."""
    generator = np.random.default_rng(2006)
    with (folder / "run").open("w") as run, (folder / "qrels").open("w") as qrels:
        for topic in range(1, n_topics + 1):
            numbers = generator.choice(10 * n_docs, n_docs + n_judged // 2, replace=False)
            docnos = [f"DOC-{number:07d}" for number in numbers]
            scores = np.sort(generator.gamma(2, 4, n_docs))[::-1].round(4)
            for rank, (docno, score) in enumerate(zip(docnos, scores, strict=False), start=1):
                run.write(f"{topic} Q0 {docno} {rank} {score} run\n")
            judged = [*range(0, n_docs, max(1, 2 * n_docs // n_judged)), *range(n_docs, len(docnos))]
            for place in judged:
                grade = int(generator.random() < 0.5) + int(generator.random() < 0.2)
                qrels.write(f"{topic} 0 {docnos[place]} {grade}\n")


def evaluate(tool: str, folder: Path) -> dict[str, list[float]]:
    """The values by qid, from the files on."""
    if tool == "pytrec_eval":
        import pytrec_eval

        with (folder / "qrels").open() as file:
            qrels = pytrec_eval.parse_qrel(file)
        with (folder / "run").open() as file:
            run = pytrec_eval.parse_run(file)
        asked = {"map", "ndcg_cut.10", "P.10", "recip_rank", "recall.100"}
        found = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
        return {qid: [values[name] for name in MEASURES.values()] for qid, values in found.items()}
    import searchlab
    from searchlab.evaluation.run_evaluation import evaluate_run

    evaluation = evaluate_run(
        searchlab.read_qrels(folder / "qrels"), searchlab.read_run(folder / "run"), list(MEASURES)
    )
    return dict(zip(evaluation.qids, evaluation.values.tolist(), strict=True))


def measure(tool: str, folder: Path) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as small:
        write_files(Path(small), 100, 1000, 1000)
        evaluate(tool, Path(small))
    began = time.perf_counter(), time.process_time()
    values = evaluate(tool, folder)
    return {"seconds": time.perf_counter() - began[0], "processor": time.process_time() - began[1], "values": values}


def compare(folder: Path, options: argparse.Namespace) -> None:
    best: dict[str, dict[str, float]] = {}
    values = {}
    for _ in range(options.rounds):
        for tool in TOOLS:
            command = [sys.executable, __file__, "--tool", tool, "--folder", str(folder)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            values[tool] = found.pop("values")
            best[tool] = {key: min(found[key], best.get(tool, found)[key]) for key in found}
    print(
        f"{options.topics:,} topics × {options.documents:,} documents, {len(MEASURES)} measures, files read included\n"
    )
    rows = [[tool, f"{best[tool]['seconds']:.2f}", f"{best[tool]['processor']:.2f}"] for tool in TOOLS]
    rows.append(["ratio", *(f"{best[TOOLS[1]][key] / best[TOOLS[0]][key]:.2f}" for key in ("seconds", "processor"))])
    print(table(["", "seconds", "processor"], rows))
    ours, theirs = values["searchlab"], values["pytrec_eval"]
    furthest = max(abs(a - b) for qid in theirs for a, b in zip(ours[qid], theirs[qid], strict=True))
    print(f"\nlargest difference of a value: {furthest:.1e}; same topics: {ours.keys() == theirs.keys()}")


def time_scores() -> None:
    from searchlab.evaluation.score_evaluation import evaluate_scores

    generator = np.random.default_rng(0)
    scores, grades = generator.normal(size=106 * 150), generator.integers(0, 3, 106 * 150)
    offsets = 150 * np.arange(107)
    times = []
    for _ in range(500):
        began = time.perf_counter()
        evaluate_scores(scores, grades, offsets, ["nDCG@10", "AP", "P@10"])
        times.append(time.perf_counter() - began)
    print(
        f"106 queries × 150 rows, 3 measures: {1e6 * np.median(times):.0f} µs (median), {1e6 * min(times):.0f} (least)"
    )


if __name__ == "__main__":
    main()
