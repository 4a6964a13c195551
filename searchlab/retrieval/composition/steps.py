"""Steps: what can follow a pipeline, as RM3 and re-ranking do.

    bm25 >> RM3() >> rerank(model) % 100

A step alone finds nothing; behind a pipeline it gives another pipeline. Steps that follow each other are a step, too:
`%` binds more tightly than `>>`, so that `rerank(model) % 100` is one step here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from searchlab.errors import SettingError
from searchlab.retrieval.search_arguments import require_k

if TYPE_CHECKING:
    from searchlab.retrieval.composition.base_pipeline import BasePipeline


class Step(ABC):
    """What can follow a pipeline."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The step in a few words."""

    @abstractmethod
    def follow(self, pipeline: BasePipeline) -> BasePipeline:
        """The pipeline with this step behind it."""

    def __rshift__(self, following: Step) -> Step:
        if not isinstance(following, Step):
            raise SettingError(
                f"{_name(following)} follows the step {self.label}: a pipeline begins with what searches, "
                "as in engine.retriever('bm25') >> RM3()"
            )
        return StepChain((self, following))

    def __rrshift__(self, first: object) -> NoReturn:
        raise SettingError(f"{first!r} cannot come before {self.label}, expected a pipeline, such as a retriever")

    def __mod__(self, k: int) -> Step:
        return StepChain((self, CutoffStep(k)))

    def search(self, *arguments: object, **options: object) -> NoReturn:
        """A step alone cannot search: raises SettingError."""
        raise SettingError(f"{self.label} alone cannot search: it follows a retriever, as in retriever >> {self.label}")

    run = explain = search


@dataclass(frozen=True)
class StepChain(Step):
    """Steps that follow each other."""

    steps: tuple[Step, ...]

    @property
    def label(self) -> str:
        """The steps, one after the other."""
        first, *others = (step.label for step in self.steps)
        return first + "".join(each if each.startswith(" ") else f" >> {each}" for each in others)

    def follow(self, pipeline: BasePipeline) -> BasePipeline:
        """The pipeline with all steps behind it."""
        for step in self.steps:
            pipeline = step.follow(pipeline)
        return pipeline


@dataclass(frozen=True)
class CutoffStep(Step):
    """A cut-off: only the k best go on."""

    k: int

    def __post_init__(self) -> None:
        require_cutoff(self.k)

    @property
    def label(self) -> str:
        """The cut-off as it is written."""
        return f" % {self.k}"

    def follow(self, pipeline: BasePipeline) -> BasePipeline:
        """The k best of a pipeline."""
        return pipeline % self.k


def require_cutoff(k: object) -> None:
    """Raise SettingError unless k is a whole number of at least 1."""
    if k is None:
        raise SettingError("the cut-off is None, expected a whole number of at least 1, as in pipeline % 100")
    require_k(k)


def setting_label(value: Any) -> str:
    """A dataclass of settings with those that differ from the defaults: `BM25(k1=0.9)`, or just `BM25`."""
    settings = [each for each in fields(value) if each.metadata.get("is_setting", True)] if is_dataclass(value) else []
    known = [(each.name.rstrip("_"), each.default, getattr(value, each.name)) for each in settings]
    changed = [
        f"{name}={found!r}"
        for name, default, found in known
        if isinstance(found, int | float | str) and found != default
    ]
    return type(value).__name__ + (f"({', '.join(changed)})" if changed else "")


def _name(value: object) -> str:
    label = getattr(value, "label", None)
    return label if isinstance(label, str) else repr(value)
