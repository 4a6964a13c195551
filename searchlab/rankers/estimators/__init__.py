"""Rankers as scikit-learn estimators."""
