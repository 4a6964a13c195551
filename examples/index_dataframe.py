"""Index the rows of a DataFrame, add rows later, and get hits back as a DataFrame."""

import tempfile

import pandas as pd

import searchlab

papers = pd.DataFrame(
    {
        "id": ["a1", "a2", "a3"],
        "headline": ["Heat flow over wings", "Boundary layers at high speed", "Lymphoma of T cells"],
        "text": [
            "Measurements of heat transfer on a delta wing.",
            "Heat and friction in thin layers of air.",
            "Three cases with fever.",
        ],
        "year": [1962, 1971, 1998],
    }
)
later = pd.DataFrame({"id": ["a4"], "headline": ["Wing tips"], "text": ["Vortices and heat."], "year": [2004]})

with tempfile.TemporaryDirectory() as folder:
    # Columns are found by their usual names (docno or id, title, body or text); `fields` has the others.
    searchlab.index(papers, folder, fields={"title": "headline"})
    summary = searchlab.index(later, folder, fields={"title": "headline"})
    print(f"{summary.n_docs} documents, of which {summary.n_added} new")

    engine = searchlab.open(folder)
    frame = engine.search("heat of wings").to_dataframe(fields=["year"])
    print(frame.to_string(index=False))
    print("mean year:", frame["year"].mean())
