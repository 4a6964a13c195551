import pytest

from searchlab.report import plots


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """What figures look like is tested elsewhere."""
    monkeypatch.setattr(plots, "_draw_svg", lambda *arguments, **options: "<svg xmlns='http://www.w3.org/2000/svg'/>")
