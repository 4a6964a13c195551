"""HTTP routes, by subject; `routing.py` puts them together."""
