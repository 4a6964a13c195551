"""The JSON API: plain functions from the state of a request and checked parameters to plain JSON."""
