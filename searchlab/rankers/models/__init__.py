"""Trained models: a module for each kind, and the registry of kinds."""
