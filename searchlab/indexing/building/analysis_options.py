"""Options of analysis as users give them, and the settings that they choose for a new or an existing index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.analysis.word_rules import STANDARD
from searchlab.errors import SettingError
from searchlab.indexing.storage.manifest import Manifest


@dataclass(frozen=True)
class AnalysisOptions:
    """How a user wants texts to be analysed; None stands for what the index has, or for the default."""

    stemmer: str | None = None
    stop_list: str | None = None
    ngrams: int | None = None
    analyzer: str | None = None
    language: str | None = None

    def settings(self, existing: AnalysisSettings | None) -> AnalysisSettings:
        """The settings for an index that has been built with other settings, or with none."""
        base = existing or AnalysisSettings()
        ngrams = base.ngrams if self.ngrams is None else self.ngrams
        analyzer, language = self.analyzer or base.analyzer, self.language or base.language
        if (analyzer, language) != (base.analyzer, base.language):
            return AnalysisSettings.from_names(*self._names_beside(analyzer), ngrams, analyzer, language)
        base.require_analyzer()
        stemmer, stop_list = self.stemmer or base.stemmer, self.stop_list or "default"
        named = AnalysisSettings.from_names(stemmer, stop_list, ngrams, analyzer, language)
        return named if self.stop_list else replace(base, stemmer=named.stemmer, ngrams=ngrams)

    def _names_beside(self, analyzer: str) -> tuple[str | None, str]:
        """Stemmer and stop list; an analyzer of a user's own has none unless they are named."""
        if analyzer == STANDARD:
            return self.stemmer, self.stop_list or "default"
        return self.stemmer or "none", self.stop_list or "none"


def choose_settings(
    folder: Path, wanted: AnalysisSettings | AnalysisOptions, before: Manifest | None
) -> AnalysisSettings:
    """The settings to analyse with; those of an existing index cannot be changed."""
    existing = None if before is None else before.settings
    chosen = wanted.settings(existing) if isinstance(wanted, AnalysisOptions) else wanted
    if existing is None:
        return chosen
    if (chosen.fingerprint, chosen.ngrams) != (existing.fingerprint, existing.ngrams):
        raise SettingError(
            f"{folder}: built with {_describe(existing)}, found {_describe(chosen)}; "
            "rebuild=True (--rebuild) builds it from scratch"
        )
    return existing


def _describe(settings: AnalysisSettings) -> str:
    ngrams = f" and n-grams of {settings.ngrams} characters" if settings.ngrams else ""
    return f"{settings.label}{ngrams}"
