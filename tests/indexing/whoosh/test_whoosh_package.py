"""The installed Whoosh: what is loaded of it compiles without warnings, which later Pythons make errors."""

import json
import subprocess
import sys

SCRIPT = """
import json, sys, warnings
from pathlib import Path

warnings.simplefilter("ignore")
import searchlab.indexing.whoosh.column_comparison
import searchlab.indexing.whoosh.segment_writer
import searchlab.retrieval.query.parser

warnings.simplefilter("error")
modules = {name: module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "whoosh"}
problems = {}
for name, file in modules.items():
    try:
        compile(Path(file).read_text(encoding="utf-8"), file, "exec")
    except SyntaxError as error:
        problems[name] = str(error)
print(json.dumps([len(modules), problems]))
"""


def test_what_is_loaded_of_whoosh_compiles_without_a_warning():
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=True)
    n_modules, problems = json.loads(ended.stdout)
    assert n_modules > 30
    assert problems == {}
