"""Each room imports only rooms to its left, and each third-party package is imported only where it belongs."""

import ast
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.features.feature_sets import DEFAULT_SET, FEATURE_SETS
from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.tree_model import TreeModel
from searchlab.records import Document
from tests.rankers.models.tree_examples import random_tree

PACKAGE = Path(searchlab.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
ROOMS = [
    "cluster",
    "corpus",
    "analysis",
    "indexing",
    "topic_models",
    "scorers",
    "retrieval",
    "mixtures",
    "features",
    "evaluation",
    "rankers",
    "training",
    "report",
    "experiments",
    "pyterrier",
    "reproduction",
    "judgments",
    "backups",
    "web",
    "cli",
]
SHARED = {
    "array_ranges",
    "atomic_file",
    "blas_threads",
    "csv_text",
    "dataframes",
    "errors",
    "extensions",
    "json_numbers",
    "json_records",
    "notebook_html",
    "processors",
    "records",
    "row_groups",
    "types",
}
ALLOWED_IMPORTERS = {
    "whoosh": ["indexing/whoosh/*.py", "retrieval/query/parser.py"],
    "numba": [
        "analysis/porter_kernel.py",
        "corpus/trec/docno_matching.py",
        "corpus/trec/line_kernels.py",
        "indexing/inversion/inversion_kernel.py",
        "indexing/inversion/word_kernel.py",
        "indexing/docno_kernels.py",
        "indexing/storage/arrays/bit_packing_kernels.py",
        "indexing/whoosh/compiled_encoding.py",
        "scorers/execution/impact_kernels.py",
        "retrieval/ranking/ranking_kernels.py",
        "retrieval/ranking/topk_kernels.py",
        "retrieval/highlight/snippet_kernels.py",
        "topic_models/plsa_kernels.py",
        "features/token_kernels.py",
        "features/latent_semantics/neighbour_kernels.py",
        "features/letor/decimals.py",
        "features/letor/parse_kernels.py",
        "evaluation/kernels/measure_kernels.py",
        "rankers/solvers/exponential_loss.py",
        "rankers/solvers/pair_kernels.py",
    ],
    "scipy": [
        "blas_threads.py",
        "evaluation/significance.py",
        "features/latent_semantics/*.py",
        "indexing/vocabulary.py",
        "indexing/blockwise/*.py",
        "topic_models/*.py",
        "mixtures/latent_topic_training.py",
        "rankers/solvers/softmax_loss.py",
    ],
    "sklearn": ["rankers/estimators/*.py", "rankers/solvers/*.py", "training/selection.py"],
    "lightgbm": ["rankers/estimators/lambdamart.py"],
    "cvxopt": ["rankers/solvers/quadratic_programme.py"],
    "charset_normalizer": ["corpus/encoding_detection.py"],
    "orjson": ["corpus/formats/jsonl.py", "indexing/storage/documents/document_packing.py"],
    "zstandard": [
        "indexing/parts/part_identities.py",
        "indexing/parts/process_worker.py",
        "indexing/storage/documents/document_packing.py",
        "indexing/storage/documents/stored_documents.py",
    ],
    "nltk": ["analysis/stemmers.py"],
    "py3langid": ["analysis/language_detection.py"],
    "threadpoolctl": ["blas_threads.py"],
    "distributed": ["cluster/*.py"],
    "typer": ["cli/*.py"],
    "jinja2": ["report/*.py", "web/pages/*.py"],
    "sqlite3": ["judgments/*.py"],
    "starlette": ["web/*.py"],
    "uvicorn": ["web/server.py"],
    "matplotlib": ["report/*.py"],
    "rich": ["cli/progress.py"],
    "pandas": ["dataframes.py", "pyterrier.py"],
    "polars": ["dataframes.py"],
    "pyterrier": ["pyterrier.py"],
    "ranx": ["corpus/trec/evaluation_tools.py"],
    "ir_measures": ["corpus/trec/evaluation_tools.py"],
    "pypdfium2": ["corpus/extraction/extractors/pdf.py"],
    "striprtf": ["corpus/extraction/extractors/rtf.py"],
    "prompt_toolkit": ["cli/session/prompt.py"],
}


@cache
def imports_of(module: str) -> set[str]:
    """The full names of all modules that a module imports, also within functions."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import"
            assert node.module is not None
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def room_of(module: str) -> str:
    return module.removesuffix(".py").split("/")[0]


def rooms_imported_by(module: str) -> set[str]:
    names = [name.split(".") for name in imports_of(module)]
    known = {*ROOMS, *SHARED}
    return {name[1] for name in names if name[0] == "searchlab" and len(name) > 1 and name[1] in known}


def test_modules_were_found_in_every_room():
    assert len(MODULES) > 30
    assert {room_of(module) for module in MODULES} == {*ROOMS, *SHARED, "__init__", "__main__"}


@pytest.mark.parametrize("module", [module for module in MODULES if room_of(module) in ROOMS])
def test_a_room_imports_only_rooms_to_its_left(module):
    room = room_of(module)
    allowed = {*ROOMS[: ROOMS.index(room) + 1], *SHARED}
    assert rooms_imported_by(module) <= allowed


@pytest.mark.parametrize("module", [f"{name}.py" for name in sorted(SHARED)])
def test_shared_modules_import_no_room(module):
    assert rooms_imported_by(module) <= SHARED


def test_the_rooms_do_import_each_other_so_that_the_rules_mean_something():
    assert {"corpus", "indexing"} <= set().union(*(rooms_imported_by(m) for m in MODULES if room_of(m) == "indexing"))
    assert {"corpus", "indexing"} <= rooms_imported_by("cli/collection_files.py")


@pytest.mark.parametrize("package", ALLOWED_IMPORTERS)
def test_a_package_is_imported_only_where_it_belongs(package):
    users = {module for module in MODULES if package in {name.split(".")[0] for name in imports_of(module)}}
    assert users
    wrong = {user for user in users if not any(fnmatch(user, pattern) for pattern in ALLOWED_IMPORTERS[package])}
    assert wrong == set()


def loaded_by(script: str, *arguments: str, cwd: Path) -> set[str]:
    """The top-level modules that are loaded after a script in a new Python process."""
    script += "\nimport sys; print('loaded:', *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=cwd, capture_output=True, text=True, check=True
    )
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith("loaded:")]
    return set(line.split())


@pytest.mark.parametrize("script", ["import searchlab", "import searchlab.cli"])
def test_importing_loads_nothing_heavy(tmp_path, script):
    loaded = loaded_by(script, cwd=tmp_path)
    assert "searchlab" in loaded
    assert loaded.isdisjoint({"numba", "nltk", "whoosh", "numpy", "rich", "starlette", "uvicorn"})


def test_a_query_for_known_words_loads_neither_stemmer_nor_compiler(build, tmp_path):
    folder = build([Document("a", "Lymphomas", "T-cells")], settings=AnalysisSettings(), words_per_shard=2)
    script = "from searchlab import cli\ntry:\n    cli.main()\nexcept SystemExit as end:\n    assert not end.code"
    loaded = loaded_by(script, "query", "the Lymphomas of T cells", "-i", str(folder), cwd=tmp_path)
    assert "numpy" in loaded
    assert loaded.isdisjoint({"numba", "nltk", "rich", "whoosh"})


@pytest.mark.parametrize("kind", ["linear", "trees"])
def test_a_query_that_a_model_reranks_loads_neither_learner_nor_compiler(build, tmp_path, kind):
    documents = [Document(name, "Lymphomas", f"T-cells {name}") for name in ("one", "two", "three")]
    folder = build(documents, settings=AnalysisSettings())
    build_space(folder)
    features = FEATURE_SETS[DEFAULT_SET]
    models = {
        "linear": LinearModel(np.ones(len(features))),
        "trees": TreeModel((random_tree(np.random.default_rng(0), 4, len(features)),), len(features)),
    }
    bundle = Bundle(kind, {}, models[kind], features, Preprocessor.named())
    bundle.save(tmp_path / "model.json")
    script = "from searchlab import cli\ntry:\n    cli.main()\nexcept SystemExit as end:\n    assert not end.code"
    arguments = ["query", "the Lymphomas of T cells", "-i", str(folder), "--rerank", "model.json", "--explain"]
    loaded = loaded_by(script, *arguments, cwd=tmp_path)
    assert "numpy" in loaded
    assert loaded.isdisjoint({"sklearn", "lightgbm", "numba", "scipy", "nltk", "rich", "whoosh"})
