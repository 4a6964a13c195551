"""The language of each document as a field, in an index of several languages."""

from __future__ import annotations

from collections.abc import Iterator

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document


def add_languages(documents: Iterator[Document], settings: AnalysisSettings) -> Iterator[Document]:
    """Documents with their languages as a field, if they may be in several."""
    if not settings.is_mixed:
        return documents
    from searchlab.analysis.language_detection import LanguageDetector
    from searchlab.analysis.languages import languages_named

    return LanguageDetector(languages_named(settings.language)).add_languages(documents)
