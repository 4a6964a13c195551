"""The JSON API: one module a subject, plain functions from checked parameters to plain JSON."""
