"""Saved searches and past queries."""
