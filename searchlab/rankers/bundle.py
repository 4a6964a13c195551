"""Bundles: a trained model and everything that its scores depend on, in one JSON file.

A bundle holds the features with their formulas, how they are imputed, normalised and extended by powers, how candidates
are found, how texts are analysed, the recipe, the training data, and the results on queries that were not trained on. A
table or an index that does not fit is refused, with the difference in the message.

The same training data, settings and seed give the same file, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from searchlab import __version__
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.atomic_file import open_atomic
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.corpus.text_files import read_text_file
from searchlab.errors import SearchlabError, SettingError, SourceError, require_path
from searchlab.extensions import Origin, require_origin
from searchlab.features.catalogue import FEATURE
from searchlab.features.feature_sets import look_up_feature
from searchlab.features.feature_table import FeatureTable, require_table
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.features.user_defined.external_features import is_external
from searchlab.json_numbers import compact_numbers, without_nan
from searchlab.json_records import has_checksum, json_checksum, parse_json
from searchlab.notebook_html import html_block, html_table
from searchlab.rankers.explanation import explain_parts
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.model_kinds import MODEL_KINDS, model_from_json
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.results import Contribution, Explanation
from searchlab.types import Floats

FORMAT = "searchlab model 1"
# Feature names listed in a message.
MAX_NAMES_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False)
class Bundle:
    """A model, ready for use.

    `ranker` and `settings` are those of the ranker that was trained. `definitions` has the formula of each feature that
    searchlab computes itself, `origins` where each feature of an extension comes from. `analyser`
    and `first_stage` are None if the model was trained from a file of features.
    `training` describes the data, `choice` the settings that were tried, and `trial` is the cross-validation. `recipe`
    says by which recipe the ranker was trained, and what that does; it is empty if the model was not made by training,
    or before recipes had names. A `transferable` model is meant for other indexes than its own: that these analyse
    texts in another way is a reason for a warning, not for refusing it.
    """

    ranker: str
    settings: Mapping[str, Any]
    model: Model
    features: tuple[str, ...]
    preprocessor: Preprocessor
    definitions: Mapping[str, str] = field(default_factory=dict)
    analyser: Mapping[str, Any] | None = None
    first_stage: FirstStage | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    choice: Mapping[str, Any] = field(default_factory=dict)
    trial: Mapping[str, Any] | None = None
    version: str = __version__
    recipe: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    transferable: bool = False

    def __repr__(self) -> str:
        return f"<Bundle {self.label}: {len(self.features)} features>"

    @property
    def label(self) -> str:
        """The ranker with the mark of its recipe."""
        return str(self.recipe.get("label", self.ranker))

    @property
    def is_storable(self) -> bool:
        """Whether the model is plain numbers, which `save` writes."""
        return self.model.kind in MODEL_KINDS

    @property
    def recipe_text(self) -> str:
        """The recipe's name and what it does; empty if it is not known."""
        if not self.recipe:
            return ""
        name, summary = self.recipe["name"], self.recipe["summary"]
        is_shared = name != "paper" and self.label == self.ranker
        return f"{name} (for {self.ranker} the same as paper): {summary}" if is_shared else f"{name}: {summary}"

    def scores(self, table: FeatureTable) -> Floats:
        """The scores of the rows of a table of raw features, which may have further columns."""
        prepared = self.preprocessor.transform(self._select(require_table(table)))
        return self.model.score(prepared.values, prepared.group_offsets)

    def explain(self, table: FeatureTable, row: int) -> Explanation:
        """The explanation of the score of a row of a table of raw features."""
        if not 0 <= row < require_table(table).n_rows:
            raise SettingError(f"row is {row}, expected 0 to {table.n_rows - 1}")
        query_number = int(np.searchsorted(table.group_offsets, row, side="right")) - 1
        start, end = table.group_offsets[query_number : query_number + 2].tolist()
        query = self._select(table.rows(slice(start, end)))
        row_of_query = row - start
        prepared = self.preprocessor.transform(query)
        raw_values = dict(zip(query.names, query.values[row_of_query].tolist(), strict=True))
        imputed = self.preprocessor.imputation.transform(query)
        return explain_parts(
            str(table.docnos[row]),
            float(self.model.score(prepared.values, prepared.group_offsets)[row_of_query]),
            self.model.parts(prepared.values, row_of_query),
            prepared.names,
            raw_values,
            self.preprocessor.normalisation.explain(imputed, row_of_query),
        )

    def influences(self) -> list[Contribution]:
        """The weights of the model with the names of their columns, the largest first."""
        names = columns_of(self.features, self.preprocessor)
        influences = [
            Contribution(
                " ".join(filter(None, ["" if part.feature is None else names[part.feature], part.text])), part.amount
            )
            for part in self.model.influences()
        ]
        return sorted(influences, key=lambda influence: (-abs(influence.amount), influence.label))

    def _repr_html_(self) -> str:
        means = dict(self.trial["means"]) if self.trial else {}
        measures = list(next(iter(means.values()), {}))
        rows = [(name, *(float(found[measure]) for measure in measures)) for name, found in means.items()]
        parts = [html_table(("cross-validation", *measures), rows)] if rows else []
        verdict = str(self.trial["verdict"]) if self.trial else "Not validated: it was not made by training."
        compared = self.training.get("former")
        if isinstance(compared, Mapping):
            verdict = f"{verdict} {compared['sentence']}"
        return html_block(
            f"Model {self.label}, {len(self.features):,} features. {self.recipe_text}", *parts, note=verdict
        )

    def has_learnt_from(
        self, topics: Iterable[Topic], index_name: str, collection_topics: Callable[[], Iterable[Topic]]
    ) -> bool:
        """Whether the model was trained on any of these topics (see `known_topics`)."""
        return bool(self.known_topics(topics, index_name, collection_topics))

    def known_topics(
        self, topics: Iterable[Topic], index_name: str, collection_topics: Callable[[], Iterable[Topic]]
    ) -> list[Topic]:
        """Those of the topics that the model was trained on, as far as its file records; texts are compared.

        Of some models only hashes of the topics are recorded. A model without recorded topics may have been trained on
        those of the collection in an index of this name: `collection_topics` gives them, and is called only then.
        """
        hashes = self.training.get("topic_hashes")
        if isinstance(hashes, list):
            return [topic for topic in topics if hash_topic(topic.text) in set(hashes)]
        trained_on = self.training.get("topics")
        if not isinstance(trained_on, Mapping):
            of_collection = str(self.training.get("source", "")).startswith("topics of its collection")
            if not of_collection or dict(self.training.get("index") or {}).get("name") != index_name:
                return []
            trained_on = {topic.qid: topic.text for topic in collection_topics()}
        texts = {on_one_line(str(text)).casefold() for text in trained_on.values()}
        return [topic for topic in topics if on_one_line(topic.text).casefold() in texts]

    def _select(self, table: FeatureTable) -> FeatureTable:
        missing = [name for name in self.features if name not in table.names]
        if missing:
            raise SettingError(
                f"the model needs {_list_names(missing)}, which the table lacks; it has {_list_names(table.names)}"
            )
        return table if table.names == self.features else table.select(self.features)

    def check_index(self, engine: SearchEngine, external: Collection[str] = ()) -> None:
        """Raise SettingError if features of the index would differ from those of training.

        `external` are the features whose scores, computed elsewhere, are given.
        """
        folder, settings = engine.snapshot.folder, engine.snapshot.manifest.settings
        for name, origin in self.origins.items():
            require_origin(FEATURE, name, origin, "this model")
        if self.first_stage is not None:
            _ = self.first_stage.make_scorer()
        computed = [name for name in self.features if name not in external]
        not_given = [name for name in computed if is_external(name)]
        if not_given:
            given = [name.partition(".")[2] for name in not_given]
            option = " ".join(f"--external {name}=FILE" for name in given)
            values = ", ".join(f"external_feature({name!r}, …)" for name in given)
            raise SettingError(
                f"the model needs {_list_names(not_given)}, computed elsewhere for topics: it ranks only topics that "
                f"have scores (`searchlab run --rerank MODEL {option}`, in Python rerank(model, external=[{values}])), "
                "and files of features (`searchlab rerank`)"
            )
        known = {name: look_up_feature(name) for name in computed}
        unknown = [name for name, feature in known.items() if feature is None]
        if unknown:
            raise SettingError(
                f"the model needs {_list_names(unknown)}, which searchlab does not compute from an index; "
                "it re-ranks files of features (`searchlab rerank`)"
            )
        for name, feature in known.items():
            trained, current = self.definitions.get(name), feature.formula if feature else None
            if trained is not None and trained != current:
                raise SettingError(f"the model was trained with {name} as {trained}, now it is {current}: retrain it")
        if self.analyser is None or self.transferable:
            return
        if self.analyser.get("fingerprint") != settings.fingerprint:
            ours, theirs = describe_analysis(self.analyser), describe_analysis(analysis_record(settings))
            raise SettingError(f"{folder}: its texts have {theirs}, the model was trained on texts with {ours}")

    def describe_transfer(self, engine: SearchEngine) -> str:
        """How the texts of an index differ from those that a transferable model was trained on; empty if they do not.

        Only the stemmer is looked at: it says which language an index is made for.
        """
        folder, settings = engine.snapshot.folder, engine.snapshot.manifest.settings
        if not self.transferable or self.analyser is None or self.analyser["stemmer"] == settings.stemmer:
            return ""
        trained = f"the model {self.label} was trained on English texts with stemmer {self.analyser['stemmer']}"
        found = f"{folder} has stemmer {settings.stemmer}"
        return f"{trained}, {found}: whether it helps here is not known; judge some topics to find out"

    def to_json(self) -> dict[str, Any]:
        """The bundle as plain JSON."""
        return {
            "format": FORMAT,
            "searchlab": self.version,
            "ranker": {"name": self.ranker, "settings": dict(self.settings)},
            "recipe": dict(self.recipe),
            "features": [
                {"name": name}
                | ({"formula": self.definitions[name]} if name in self.definitions else {})
                | ({"origin": self.origins[name].to_json()} if name in self.origins else {})
                for name in self.features
            ],
            "preprocessor": self.preprocessor.to_json(),
            "first_stage": None if self.first_stage is None else self.first_stage.to_json(),
            "analyser": None if self.analyser is None else dict(self.analyser),
            "training": dict(self.training),
            "choice": dict(self.choice),
            "cross_validation": None if self.trial is None else dict(self.trial),
            "model": self.model.to_json(),
            **({"transferable": True} if self.transferable else {}),
        }

    def save(self, path: str | Path) -> None:
        """Write the bundle atomically."""
        require_path("path", path)
        record = without_nan(self.to_json())
        record["checksum"] = json_checksum(record)
        text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
        with open_atomic(path) as file:
            file.write(compact_numbers(text) + "\n")


def load_bundle(path: str | Path) -> Bundle:
    """Read a bundle; an unreadable or malformed file is reported in one line."""
    require_path("path", path)
    try:
        record = parse_json(read_text_file(path))
    except ValueError as error:
        raise SourceError(path, f"not a JSON file ({error})") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        found = record.get("format") if isinstance(record, dict) else type(record).__name__
        raise SourceError(path, f"not a model of searchlab: format is {found!r}, expected {FORMAT!r}")
    # Files of earlier versions have none.
    if "checksum" in record and not has_checksum(record):
        changed = "the file is damaged, or was changed by hand: then remove its checksum"
        raise SourceError(path, f"its checksum does not match; {changed}")
    try:
        return _bundle_from_json(record)
    except SearchlabError as error:
        raise SourceError(path, " ".join(str(error).split())) from None
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise SourceError(path, f"malformed model ({reason})") from None


def _bundle_from_json(record: Mapping[str, Any]) -> Bundle:
    features = _features(record)
    names = tuple(feature["name"] for feature in features)
    preprocessor = Preprocessor.from_json(record["preprocessor"])
    analyser = None if record["analyser"] is None else _mapping(record, "analyser")
    if analyser is not None:
        _ = [_text(analyser, name) for name in ("fingerprint", "stemmer", "stop_list")]
    return Bundle(
        _text(record["ranker"], "name"),
        _mapping(record["ranker"], "settings"),
        model_from_json(record["model"], len(columns_of(names, preprocessor))),
        names,
        preprocessor,
        {feature["name"]: _text(feature, "formula") for feature in features if "formula" in feature},
        analyser,
        None if record["first_stage"] is None else FirstStage.from_json(record["first_stage"]),
        _mapping(record, "training"),
        _mapping(record, "choice"),
        None if record["cross_validation"] is None else _mapping(record, "cross_validation"),
        _text(record, "searchlab"),
        _recipe(record),
        {feature["name"]: Origin.from_json(feature["origin"]) for feature in features if "origin" in feature},
        record.get("transferable") is True,
    )


def _features(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    features = record["features"]
    if not isinstance(features, list):
        raise SettingError(f"features is {type(features).__name__}, expected a list")
    for number, feature in enumerate(features, 1):
        if not isinstance(feature, dict) or not isinstance(feature.get("name"), str):
            raise SettingError(f"feature {number} is malformed, expected names with values, among them name, a text")
    return features


def _recipe(record: Mapping[str, Any]) -> dict[str, Any]:
    recipe = _mapping(record, "recipe") if "recipe" in record else {}
    if recipe:
        _ = [_text(recipe, name) for name in ("name", "label", "summary")]
    return recipe


def _mapping(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = record[name]
    if not isinstance(value, dict):
        raise SettingError(f"{name} is {type(value).__name__}, expected names with values")
    return value


def _text(record: Mapping[str, Any], name: str) -> str:
    text = record[name]
    if not isinstance(text, str) or len(text.splitlines()) != 1:
        raise SettingError(f"{name} is {type(text).__name__}, expected a line of text")
    return text


def columns_of(features: tuple[str, ...], preprocessor: Preprocessor) -> tuple[str, ...]:
    """The names of the columns that a model sees after preprocessing."""
    return preprocessor.transform(FeatureTable(features, [], [], np.zeros((0, len(features))))).names


def analysis_record(settings: AnalysisSettings) -> dict[str, Any]:
    """The analysis settings as they are stored in a bundle."""
    own = {} if settings.origin is None else {"analyzer": settings.analyzer}
    if settings.language != AnalysisSettings.language:
        own = {"language": settings.language}
    return own | {"fingerprint": settings.fingerprint, "stemmer": settings.stemmer, "stop_list": settings.stop_list}


def describe_analysis(record: Mapping[str, Any]) -> str:
    """The analysis settings in a few words."""
    own = "".join(f"{name} {record[name]}, " for name in ("analyzer", "language") if name in record)
    return f"{own}stemmer {record['stemmer']}, stop list {record['stop_list']} ({record['fingerprint']})"


def hash_topic(text: str) -> str:
    """A hash of the words of a topic, by which a model knows it without its text: twelve hexadecimal digits."""
    return hashlib.sha256(on_one_line(text).casefold().encode()).hexdigest()[:12]


def fingerprint_of(*tables: FeatureTable) -> str:
    """A checksum of rows, values and grades: sixteen hexadecimal digits."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(json.dumps([list(table.names), table.qids.tolist(), table.docnos.tolist()]).encode())
        digest.update(table.values.tobytes())
        digest.update(b"" if table.grades is None else table.grades.tobytes())
    return digest.hexdigest()[:16]


def _list_names(names: Any) -> str:
    shown = ", ".join(list(names)[:MAX_NAMES_SHOWN])
    n_hidden = len(names) - MAX_NAMES_SHOWN
    return f"{shown} and {n_hidden} more features" if n_hidden > 0 else f"feature{'s' * (len(names) > 1)} {shown}"
