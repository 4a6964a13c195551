"""Preprocessing of feature tables: imputation, normalisation, powers."""
