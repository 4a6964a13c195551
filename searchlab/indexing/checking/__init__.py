"""Checking that an index is undamaged and that its parts agree."""
