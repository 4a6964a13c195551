"""What is kept of a trained ranker, and what does it fit?

One JSON file, a bundle: the model and everything that its numbers depend on: the features with their formulas, how
they are filled, normalised and bent, how candidates are found, how texts are analysed, what it was trained on and how
well it did on queries that it had not seen. A table or an index that does not fit is refused, and the difference is
named.

The same training data, settings and seed give the same file, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from searchlab import __version__
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.atomic_file import open_atomic
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.errors import SearchlabError, SettingError, SourceError
from searchlab.features.catalogue import CATALOGUE
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preparation
from searchlab.json_numbers import without_nan
from searchlab.rankers.explanation import Account, Share, make_account
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models import Model, model_from_json
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.types import Floats

FORMAT = "searchlab model 1"
# So many names are told in a message.
NAMED = 3


@dataclass(frozen=True, eq=False)
class Bundle:
    """A model, ready for use.

    `ranker` and `settings` say what learnt it. `definitions` has the formula of each feature that searchlab computes
    itself. `analyser` and `first_stage` are None if the model was trained from a file of features. `training`,
    `choice` and `trial` tell where it comes from: the data, what was tried, the cross-validation.
    """

    ranker: str
    settings: Mapping[str, Any]
    model: Model
    features: tuple[str, ...]
    preparation: Preparation
    definitions: Mapping[str, str] = field(default_factory=dict)
    analyser: Mapping[str, Any] | None = None
    first_stage: FirstStage | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    choice: Mapping[str, Any] = field(default_factory=dict)
    trial: Mapping[str, Any] | None = None
    version: str = __version__

    def scores(self, table: FeatureTable) -> Floats:
        """The scores of the rows of a table of raw features, which may have further columns."""
        prepared = self.preparation.apply(self._select(table))
        return self.model.score(prepared.values, prepared.group_offsets)

    def account(self, table: FeatureTable, row: int) -> Account:
        """Why a row of a table of raw features has its score."""
        if not 0 <= row < table.n_rows:
            raise SettingError(f"row is {row}, expected 0 to {table.n_rows - 1}")
        number = int(np.searchsorted(table.group_offsets, row, side="right")) - 1
        start, end = table.group_offsets[number : number + 2].tolist()
        query = self._select(table.rows(slice(start, end)))
        prepared = self.preparation.apply(query)
        place = row - start
        score = float(self.model.score(prepared.values, prepared.group_offsets)[place])
        filled = self.preparation.filling.transform(query)
        raws = dict(zip(query.names, query.values[place].tolist(), strict=True))
        told = self.preparation.normalisation.explain(filled, place)
        parts = self.model.parts(prepared.values, place)
        return make_account(str(table.docnos[row]), score, parts, prepared.names, raws, told)

    def influences(self) -> list[Share]:
        """What counts in the model, the largest first."""
        names = columns_of(self.features, self.preparation)
        shares = [
            Share(" ".join(filter(None, ["" if part.feature is None else names[part.feature], part.text])), part.amount)
            for part in self.model.influences()
        ]
        return sorted(shares, key=lambda share: (-abs(share.amount), share.label))

    def has_learnt_from(
        self, topics: Iterable[Topic], index_name: str, collection_topics: Callable[[], Iterable[Topic]]
    ) -> bool:
        """Whether the model was trained on any of these topics, as far as its file records; texts are compared.

        A model without recorded topics may have been trained on those of the collection in an index of this name:
        `collection_topics` gives them, and is called only then.
        """
        trained_on = self.training.get("topics")
        if not isinstance(trained_on, Mapping):
            of_collection = str(self.training.get("source", "")).startswith("topics of its collection")
            if not of_collection or dict(self.training.get("index") or {}).get("name") != index_name:
                return False
            trained_on = {topic.qid: topic.text for topic in collection_topics()}
        texts = {on_one_line(topic.text).casefold() for topic in topics}
        return any(on_one_line(str(text)).casefold() in texts for text in trained_on.values())

    def _select(self, table: FeatureTable) -> FeatureTable:
        missing = [name for name in self.features if name not in table.names]
        if missing:
            raise SettingError(f"the model needs {_some(missing)}, which the table lacks; it has {_some(table.names)}")
        return table if table.names == self.features else table.select(self.features)

    def check_index(self, engine: SearchEngine) -> None:
        """Refuse an index for which the numbers of this model mean nothing."""
        folder, settings = engine.snapshot.folder, engine.snapshot.manifest.settings
        strangers = [name for name in self.features if name not in CATALOGUE]
        if strangers:
            raise SettingError(
                f"the model needs {_some(strangers)}, which searchlab does not compute from an index; "
                "it re-ranks files of features (`searchlab rerank`)"
            )
        for name in self.features:
            known = self.definitions.get(name)
            if known is not None and known != CATALOGUE[name].formula:
                raise SettingError(
                    f"the model knows {name} as {known}, now it is {CATALOGUE[name].formula}: train it anew"
                )
        if self.analyser is not None and self.analyser.get("fingerprint") != settings.fingerprint:
            ours, theirs = describe_analysis(self.analyser), describe_analysis(analysis_record(settings))
            raise SettingError(f"{folder}: its texts have {theirs}, the model was trained on texts with {ours}")

    def to_json(self) -> dict[str, Any]:
        """The bundle as plain JSON."""
        return {
            "format": FORMAT,
            "searchlab": self.version,
            "ranker": {"name": self.ranker, "settings": dict(self.settings)},
            "features": [
                {"name": name} | ({"formula": self.definitions[name]} if name in self.definitions else {})
                for name in self.features
            ],
            "preparation": self.preparation.to_json(),
            "first_stage": None if self.first_stage is None else self.first_stage.to_json(),
            "analyser": None if self.analyser is None else dict(self.analyser),
            "training": dict(self.training),
            "choice": dict(self.choice),
            "cross_validation": None if self.trial is None else dict(self.trial),
            "model": self.model.to_json(),
        }

    def save(self, path: str | Path) -> None:
        """Write the bundle; the file appears when it is complete."""
        text = json.dumps(without_nan(self.to_json()), ensure_ascii=False, indent=1, allow_nan=False)
        with open_atomic(path) as file:
            file.write(_compact(text) + "\n")


def load_bundle(path: str | Path) -> Bundle:
    """Read a bundle, or say in one line what is wrong with the file."""
    try:
        kept = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(path, f"cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise SourceError(path, f"not a JSON file ({error})") from None
    if not isinstance(kept, dict) or kept.get("format") != FORMAT:
        found = kept.get("format") if isinstance(kept, dict) else type(kept).__name__
        raise SourceError(path, f"not a model of searchlab: format is {found!r}, expected {FORMAT!r}")
    try:
        return _read(kept)
    except SearchlabError as error:
        raise SourceError(path, " ".join(str(error).split())) from None
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise SourceError(path, f"malformed model ({told})") from None


def _read(kept: Mapping[str, Any]) -> Bundle:
    names = tuple(feature["name"] for feature in kept["features"])
    preparation = Preparation.from_json(kept["preparation"])
    analyser = None if kept["analyser"] is None else _record(kept, "analyser")
    if analyser is not None:
        _ = [_text(analyser, name) for name in ("fingerprint", "stemmer", "stop_list")]
    return Bundle(
        _text(kept["ranker"], "name"),
        _record(kept["ranker"], "settings"),
        model_from_json(kept["model"], len(columns_of(names, preparation))),
        names,
        preparation,
        {feature["name"]: _text(feature, "formula") for feature in kept["features"] if "formula" in feature},
        analyser,
        None if kept["first_stage"] is None else FirstStage.from_json(kept["first_stage"]),
        _record(kept, "training"),
        _record(kept, "choice"),
        None if kept["cross_validation"] is None else _record(kept, "cross_validation"),
        _text(kept, "searchlab"),
    )


def _record(kept: Mapping[str, Any], name: str) -> dict[str, Any]:
    record = kept[name]
    if not isinstance(record, dict):
        raise SettingError(f"{name} is {type(record).__name__}, expected names with values")
    return record


def _text(kept: Mapping[str, Any], name: str) -> str:
    text = kept[name]
    if not isinstance(text, str) or len(text.splitlines()) != 1:
        raise SettingError(f"{name} is {type(text).__name__}, expected a line of text")
    return text


def columns_of(features: tuple[str, ...], preparation: Preparation) -> tuple[str, ...]:
    """What the columns are called that a model sees, if features are prepared so."""
    return preparation.apply(FeatureTable(features, [], [], np.zeros((0, len(features))))).names


def analysis_record(settings: AnalysisSettings) -> dict[str, Any]:
    """What a bundle keeps of how texts are analysed."""
    return {"fingerprint": settings.fingerprint, "stemmer": settings.stemmer, "stop_list": settings.stop_list}


def describe_analysis(record: Mapping[str, Any]) -> str:
    """How texts are analysed, in a few words."""
    return f"stemmer {record['stemmer']}, stop list {record['stop_list']} ({record['fingerprint']})"


def fingerprint_of(*tables: FeatureTable) -> str:
    """Sixteen hexadecimal digits that change with any row, value or grade."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(json.dumps([list(table.names), table.qids.tolist(), table.docnos.tolist()]).encode())
        digest.update(table.values.tobytes())
        digest.update(b"" if table.grades is None else table.grades.tobytes())
    return digest.hexdigest()[:16]


def _some(names: Any) -> str:
    shown = ", ".join(list(names)[:NAMED])
    more = len(names) - NAMED
    return f"{shown} and {more} more features" if more > 0 else f"feature{'s' * (len(names) > 1)} {shown}"


def _compact(text: str) -> str:
    """Lists of numbers on one line: a weight a line would make a file nobody reads."""
    lines: list[str] = []
    held: list[str] | None = None
    for line in text.split("\n"):
        bare = line.strip()
        if held is None and bare.endswith("["):
            held = [line]
        elif held is not None and bare.rstrip(",").lstrip("-")[:1].isdigit():
            held.append(line)
        elif held is not None and bare in ("]", "],") and len(held) > 1:
            numbers = " ".join(number.strip() for number in held[1:])
            lines.append(f"{held[0]}{numbers}{bare}")
            held = None
        else:
            lines += held or []
            held = [line] if bare.endswith("[") else None
            lines += [] if held else [line]
    return "\n".join(lines + (held or []))
